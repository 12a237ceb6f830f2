import { chmodSync, chownSync, mkdirSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readSecretFile, redact, whereSecretBelongs } from '#pickaxe/app/config/secrets.js';
import { ENTRIES } from '#pickaxe/app/config/settings.js';
import { Folder } from './folder.ts';

let folder: Folder;
beforeEach(() => {
  folder = new Folder();
});
afterEach(() => {
  vi.restoreAllMocks();
  folder.remove();
});

describe('a secret file', () => {
  const write = (text: string | Uint8Array, mode = 0o600) => {
    const file = folder.write('token', text);
    chmodSync(file, mode);
    return file;
  };

  it.each(['hunter2', 'hunter2\n', 'hunter2\r\n'])('may contain %j', (text) => {
    expect(readSecretFile(write(text), 'http.token-file')).toBe('hunter2');
  });

  it.each([
    ['UTF-8 with a byte order mark', Buffer.from('\ufeffhunter2\r\n')],
    ['UTF-16, as PowerShell 5 writes it', Buffer.from('\ufeffhunter2\r\n', 'utf16le')],
  ])('may be %s', (_, bytes) => {
    expect(readSecretFile(write(bytes), 'http.token-file')).toBe('hunter2');
  });

  it('must be text', () => {
    expect(() => readSecretFile(write(Buffer.from('hünter2', 'latin1')), 'x')).toThrow(/token is not UTF-8 text/);
  });

  it('loses one newline at its end and nothing else', () => {
    expect(readSecretFile(write(' a b \n'), 'x')).toBe(' a b ');
  });

  it.each([
    ['', /is empty/],
    ['\n', /is empty/],
    [' \n', /is empty/],
    ['hunter2\nhunter3\n', /several lines/],
    ['hunter2\rhunter3', /several lines/],
    ['hunter2\0', /several lines/],
    ['hunter2'.repeat(1000), /more than 4096 bytes/],
  ])('is refused if it contains %j, and the error does not repeat it', (text, says) => {
    const read = () => readSecretFile(write(text), 'http.token-file');
    expect(read).toThrow(says);
    expect(read).toThrow(/^http\.token-file: /);
    expect(read).not.toThrow(/hunter/);
  });

  it('must exist and be a file', () => {
    expect(() => readSecretFile(join(folder.path, 'none'), 'x')).toThrow(/none cannot be read: there is no such file$/);
    mkdirSync(join(folder.path, 'folder'));
    expect(() => readSecretFile(join(folder.path, 'folder'), 'x')).toThrow(/cannot be used: it is a directory/);
  });

  describe.skipIf(process.platform === 'win32')('must belong to its owner alone', () => {
    const owned = (mode: number) => {
      const file = write('hunter2', mode);
      // There is another rule for secrets that belong to root.
      const user = statSync(file).uid || 12_345;
      if (process.getuid?.() === 0) chownSync(file, user, user);
      vi.spyOn(process, 'geteuid').mockReturnValue(user);
      return file;
    };

    it.each([0o622, 0o602, 0o620, 0o640, 0o604])('and is refused with the mode %o', (mode) => {
      const read = () => readSecretFile(owned(mode), 'http.token-file');
      expect(read).toThrow(
        /^http\.token-file: \S+ cannot be used: other users .* may read or write it\. .*\(chmod go-rwx \S+\)$/,
      );
      expect(read).not.toThrow(/hunter/);
    });

    it('and is refused when another user owns it', () => {
      const file = owned(0o600);
      expect(readSecretFile(file, 'x')).toBe('hunter2');
      vi.mocked(process.geteuid!).mockReturnValue(54_321);
      expect(() => readSecretFile(file, 'x')).toThrow(/cannot be used: it belongs to another user/);
    });

    it('and is judged by the file that it leads to if it is a link', () => {
      const file = owned(0o600);
      const link = join(folder.path, 'link');
      symlinkSync(file, link);
      expect(readSecretFile(link, 'x')).toBe('hunter2');
      chmodSync(file, 0o606);
      expect(() => readSecretFile(link, 'x')).toThrow('cannot be used');
    });
  });
});

describe('whereSecretBelongs', () => {
  it.each(['private-key', 'secretKey', 'SECRET_KEY', 'mnemonic', 'seed'])(
    'says that %s belongs nowhere in pickaxe',
    (name) => {
      expect(whereSecretBelongs(name)).toContain('only the public key');
    },
  );

  it.each(['token', 'HTTP_TOKEN', 'apiKey', 'api-key', 'password', 'secret', 'authorization'])(
    'says that %s belongs in a file',
    (name) => {
      expect(whereSecretBelongs(name)).toContain('a file that only you can read');
    },
  );

  // The password at a pool is a setting, because most pools ignore it; it is hidden all the same.
  const settings = ENTRIES.filter(({ path }) => path !== 'pool.password').map(({ key }) => key);
  it.each([...settings, 'token-file', 'tokens-per-second', 'keys', 'seedling'])(
    'says that %s is not a secret',
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
    ['http://me:hunt@er2@host/', 'http://***@host/'],
    ["http://me:hunt'er2@host/", 'http://***@host/'],
    ['{"url":"http://me:hunter2@host","mail":"a@b"}', '{"url":"http://***@host","mail":"a@b"}'],
    ['Authorization: Bearer hunter2', 'Authorization: ***'],
    ['{"authorization":"Basic hunter2","x":1}', '{"authorization":"***","x":1}'],
    ['Proxy-Authorization: Basic hunter2', 'Proxy-Authorization: ***'],
    ['sent Bearer hunter2.abc', 'sent Bearer ***'],
    ['sent basic aHVudGVyMg==', 'sent basic ***'],
    ['GET /1/summary?a=1&access_token=hunter2&b=2', 'GET /1/summary?a=1&access_token=***&b=2'],
    ['?key=hunter2 and more', '?key=*** and more'],
    ['?secret=hunter2&x=1', '?secret=***&x=1'],
    ['?a=1&client_secret=hunter2', '?a=1&client_secret=***'],
    ['?user=me&password=hunter2#top', '?user=me&password=***#top'],
    ['?db-password=hunter2', '?db-password=***'],
    ['public-keys = ["ab"]', 'public-keys = ["ab"]'],
    ['http://host/path', 'http://host/path'],
  ])('hides what is secret in %s', (text, redacted) => {
    expect(redact(text)).toBe(redacted);
  });

  it('hides the user and password in any URL', () => {
    const word = fc.stringMatching(/^[a-zA-Z0-9%:._-]{1,20}$/);
    fc.assert(
      fc.property(word, word, (user, password) => {
        expect(redact(`at http://${user}:${password}@host/`)).toBe('at http://***@host/');
      }),
    );
  });

  it('is fast for any text', () => {
    for (const text of ['http://'.repeat(20_000), 'authorization'.repeat(10_000), '?token='.repeat(20_000)]) {
      expect(redact(text).length).toBeGreaterThan(0);
    }
  });
});
