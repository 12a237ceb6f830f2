import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import { readSecretFile, redact, whereSecretBelongs } from '#pickaxe/config/secrets.js';
import { ENTRIES } from '#pickaxe/config/settings.js';
import { Folder } from './folder.ts';

let folder: Folder;
beforeEach(() => {
  folder = new Folder();
});
afterEach(() => folder.remove());

describe('a secret file', () => {
  const write = (text: string | Uint8Array, mode = 0o600) => {
    const file = folder.write('token', text);
    chmodSync(file, mode);
    return file;
  };

  it.each(['hunter2', 'hunter2\n', 'hunter2\r\n'])('has %j in it', (text) => {
    expect(readSecretFile(write(text), 'http.token-file')).toEqual({ value: 'hunter2' });
  });

  it('loses one newline and nothing else', () => {
    expect(readSecretFile(write(' a b \n'), 'x').value).toBe(' a b ');
  });

  it.each([
    ['', /is empty/],
    ['\n', /is empty/],
    [' \n', /is empty/],
    ['hunter2\nhunter3\n', /several lines/],
    ['hunter2\0', /several lines/],
    ['hunter2'.repeat(1000), /more than 4096 bytes/],
  ])('is refused with %j in it, which is not repeated', (text, says) => {
    const read = () => readSecretFile(write(text), 'http.token-file');
    expect(read).toThrow(says);
    expect(read).toThrow(/^http\.token-file: /);
    expect(read).not.toThrow(/hunter/);
  });

  it('must be there, and a file', () => {
    expect(() => readSecretFile(join(folder.path, 'none'), 'x')).toThrow(/cannot be read: ENOENT/);
    mkdirSync(join(folder.path, 'folder'));
    expect(() => readSecretFile(join(folder.path, 'folder'), 'x')).toThrow(/cannot be read: /);
  });

  test.skipIf(process.platform === 'win32')('is warned of when others can read it', () => {
    for (const mode of [0o640, 0o604]) {
      const { value, warning } = readSecretFile(write('hunter2', mode), 'x');
      expect(value).toBe('hunter2');
      expect(warning).toMatch(/^x: others can read .*: chmod 600 /);
    }
  });
});

describe('whereSecretBelongs', () => {
  it.each(['private-key', 'secretKey', 'SECRET_KEY', 'mnemonic', 'seed'])('%s: nowhere in pickaxe', (name) => {
    expect(whereSecretBelongs(name)).toContain('public key alone');
  });

  it.each(['token', 'HTTP_TOKEN', 'apiKey', 'api-key', 'password', 'secret', 'authorization'])(
    '%s: in a file',
    (name) => {
      expect(whereSecretBelongs(name)).toContain('a file that only you can read');
    },
  );

  it.each([...ENTRIES.map(({ key }) => key), 'token-file', 'tokens-per-second', 'keys', 'seedling'])(
    '%s is no secret',
    (name) => {
      expect(whereSecretBelongs(name)).toBeUndefined();
    },
  );
});

describe('redact', () => {
  it.each([
    ['http://me:hunter2@host:1/x', 'http://***@host:1/x'],
    ['see https://hunter2@host, and http://host', 'see https://***@host, and http://host'],
    ['http://me:hunt/er#2@host', 'http://***@host'],
    ['{"url":"http://me:hunter2@host","mail":"a@b"}', '{"url":"http://***@host","mail":"a@b"}'],
    ['Authorization: Bearer hunter2', 'Authorization: ***'],
    ['{"authorization":"Basic hunter2","x":1}', '{"authorization":"***","x":1}'],
    ['sent Bearer hunter2.abc', 'sent Bearer ***'],
    ['GET /1/summary?a=1&access_token=hunter2&b=2', 'GET /1/summary?a=1&access_token=***&b=2'],
    ['?key=hunter2 and more', '?key=*** and more'],
    ['public-keys = ["ab"]', 'public-keys = ["ab"]'],
    ['http://host/path', 'http://host/path'],
  ])('%s', (text, redacted) => {
    expect(redact(text)).toBe(redacted);
  });

  it('hides the user and password of any URL', () => {
    const word = fc.stringMatching(/^[a-zA-Z0-9%:._-]{1,20}$/);
    fc.assert(
      fc.property(word, word, (user, password) => {
        expect(redact(`at http://${user}:${password}@host/`)).toBe('at http://***@host/');
      }),
    );
  });

  it('does not take long over anything', () => {
    for (const text of ['http://'.repeat(20_000), 'authorization'.repeat(10_000), '?token='.repeat(20_000)]) {
      expect(redact(text).length).toBeGreaterThan(0);
    }
  });
});
