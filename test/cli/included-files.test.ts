/** Which files a stranger's file may have read. */

import { chmodSync, linkSync, symlinkSync } from 'node:fs';
import { join, relative } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { AllowedFiles, IncludedFiles, namesDevice } from '#pickaxe/cli/included-files.js';
import { SourceFiles } from '#pickaxe/cli/repl/source-files.js';
import { KeyPair } from '#pickaxe/protocol/ledger/command/command.js';
import { Folder } from '../app/config/folder.ts';
import { pickaxeIn } from './in-process.ts';

const SEED = `SU${'A'.repeat(56)}`;
const SECRET_KEY = 'c0ff'.repeat(16);
/** The first words of secrets that must never be shown. */
const WORDS = ['hvs.TOKEN', 'PASSWORD=hunter2', 'PRIVATE', SEED, SECRET_KEY];

const folder = new Folder();
afterAll(() => folder.remove());

/** A file that everybody may read, as `git clone` makes it. */
function shared(name: string, text: string): string {
  const path = folder.write(name, text);
  chmodSync(path, 0o644);
  return path;
}

const token = folder.write('secrets/token', 'hvs.TOKEN');
shared('secrets/outside.pact', 'hvs.TOKEN');
shared('project/token', 'hvs.TOKEN');
shared('project/.env', 'PASSWORD=hunter2');
shared('project/.hidden/lib.repl', 'hvs.TOKEN');
shared('project/key.json', JSON.stringify({ publicKey: 'aa', secretKey: SECRET_KEY }));
shared('project/key.repl', JSON.stringify({ publicKey: 'aa', secretKey: SECRET_KEY }));
/** A key file of no more than 64 KiB, in another notation than those of known tools. */
const { publicKey } = new KeyPair(SECRET_KEY);
const strangeKey = (length: number) => `{"public": "${publicKey}", "s\\u0065cret": "${SECRET_KEY}"}`.padEnd(length);
shared('project/strange.repl', strangeKey(65_536));
shared('project/long.repl', strangeKey(65_537));
shared('project/pem.repl', '-----BEGIN PRIVATE KEY-----');
shared('project/seed.repl', SEED);
folder.write('project/private.repl', 'hvs.TOKEN');
symlinkSync(token, join(folder.path, 'project/link.repl'));
symlinkSync(join(folder.path, 'secrets'), join(folder.path, 'project/folder'));
symlinkSync('.env', join(folder.path, 'project/env.repl'));
symlinkSync('token', join(folder.path, 'project/to-token.repl'));
linkSync(token, join(folder.path, 'project/hard.repl'));
shared('project/lib/good.pact', '(+ 1 2)');
symlinkSync('lib/good.pact', join(folder.path, 'project/good-link.pact'));
const onWindows = process.platform === 'win32';

const repl = (...args: string[]) => pickaxeIn(folder.path, ['repl', ...args]);

describe('a test from a stranger', () => {
  it.each([
    ['../secrets/token', 'it is outside of the folder of the first file'],
    ['../secrets/outside.pact', 'it is outside of the folder of the first file'],
    ['../gone.repl', 'it is outside of the folder of the first file'],
    [token, 'it is outside of the folder of the first file'],
    ['/etc/passwd', 'it is outside of the folder of the first file'],
    ['/proc/self/environ', 'it is outside of the folder of the first file'],
    ['/dev/zero', 'it is outside of the folder of the first file'],
    ['link.repl', 'it is outside of the folder of the first file'],
    ['folder/outside.pact', 'it is outside of the folder of the first file'],
    ['lib/../../secrets/token', 'it is outside of the folder of the first file'],
    ['.env', 'it is a hidden file'],
    ['env.repl', 'it is a hidden file'],
    ['.hidden/lib.repl', 'it is a hidden file'],
    ['token', 'its name does not end with .pact or .repl'],
    ['to-token.repl', 'its name does not end with .pact or .repl'],
    ['key.json', 'its name does not end with .pact or .repl'],
    ['key.repl', 'it has a secret key in it'],
    ['strange.repl', 'it has a secret key in it'],
    ['pem.repl', 'it has a secret key in it'],
    ['seed.repl', 'it has a secret key in it'],
    ...(onWindows
      ? []
      : [
          ['private.repl', 'only you may read it, so it may be a secret'],
          ['hard.repl', 'only you may read it, so it may be a secret'],
        ]),
    ['gone.repl', 'there is no such file'],
  ])('does not have %s read, and shows no word of it', async (path, why) => {
    shared('project/tests.repl', `(expect "before" 1 1)\n(load "${path}")`);
    for (const dialect of ['4', '5']) {
      const { code, stdout, stderr } = await repl('project/tests.repl', '--trace', '--dialect', dialect);
      expect(code).toBe(1);
      expect(stdout).toContain(`, ${why}`);
      if (!why.includes('secret key') && !why.includes('no such')) expect(stdout).toContain('allow it: --allow-file ');
      for (const word of WORDS) expect(stdout + stderr).not.toContain(word);
    }
    const { stdout } = await repl('project/tests.repl', '--json', '--junit', 'results.xml');
    for (const word of WORDS) expect(stdout).not.toContain(word);
  });

  it('has read what is beside it, also by a link to there', async () => {
    shared('project/tests.repl', '(load "lib/good.pact")(load "good-link.pact")(load "lib/../lib/good.pact")');
    expect(await repl('project/tests.repl')).toMatchObject({ code: 0 });
  });

  it.skipIf(onWindows)('has private files read beside it if it is private itself, as with a umask of 077', async () => {
    folder.write('mine/lib.pact', '(+ 1 2)');
    folder.write('mine/tests.repl', '(load "lib.pact")');
    expect(await repl('mine/tests.repl')).toMatchObject({ code: 0 });
  });

  it('that is a link among the files of a pattern is not run, if the link leads elsewhere', async () => {
    for (const name of ['link.repl', 'env.repl', 'to-token.repl']) {
      const { code, stdout, stderr } = await repl(`project/${name}`);
      expect(code).toBe(2);
      expect(stderr).toMatch(/cannot be read: it.*--allow-file \S+\.$/m);
      for (const word of WORDS) expect(stdout + stderr).not.toContain(word);
    }
    expect(await repl('project/good-link.pact')).toMatchObject({ code: 0 });
    expect((await repl('project/long.repl')).stderr).not.toContain('secret');
  });
});

describe('--allow-file', () => {
  it('allows a file, whatever its name is, and shows what is in it', async () => {
    shared('project/tests.repl', '(load "../secrets/token")');
    const { stdout } = await repl('project/tests.repl', '--allow-file', 'secrets/token');
    expect(stdout).toContain('Unbound variable hvs.TOKEN');
  });

  it('allows a folder, so that a suite with parts in several folders can be run', async () => {
    shared('suite/lib/contract.pact', '(+ 1 2)');
    shared('suite/lib/token', 'hvs.TOKEN');
    shared('suite/tests/all.repl', '(load "../lib/contract.pact")(expect "sums" 3 (+ 1 2))');
    const refused = await repl('suite/tests/all.repl');
    expect(refused.stdout).toContain(`allow it: --allow-file ${join(folder.path, 'suite/lib/contract.pact')}`);
    expect(await repl('suite/tests/all.repl', '--allow-file', 'suite/lib')).toMatchObject({ code: 0 });
    shared('suite/tests/all.repl', '(load "../lib/token")');
    const { stdout } = await repl('suite/tests/all.repl', '--allow-file', 'suite/lib');
    expect(stdout).toContain('its name does not end with .pact or .repl');
  });

  it('that names nothing is wrong usage', async () => {
    expect(await repl('project/tests.repl', '--allow-file', 'gone')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--allow-file gone: there is no such file.'),
    });
  });
});

describe('what is typed', () => {
  it('may load files of the working folder, and what :load has named may load files of its own', () => {
    const files = new SourceFiles();
    files.nameWorkingFolder();
    const lib = join(folder.path, 'project/lib/good.pact');
    expect(() => files.read(lib)).toThrow('it is outside of the working folder');
    expect(() => files.read('../gone.repl')).toThrow('it is outside of the working folder');
    files.name(shared('project/tests.repl', '1'));
    expect(files.read(lib)).toBe('(+ 1 2)');
    expect(() => files.read(token)).toThrow('it is outside of the working folder');
  });
});

it('a path in an error is one word of a shell, whatever a stranger has put into it', () => {
  const included = new IncludedFiles({ allowed: new AllowedFiles(), consent: 'it may be read' });
  included.addFolder(folder.path, 'the folder', false);
  const path = join(folder.path, "../a'$(touch b) c");
  const quoted = `--allow-file '${path.replaceAll("'", "'\\''")}'`;
  expect(() => included.read(path)).toThrow(quoted);
});

it('a path may begin with a link to the folder', () => {
  symlinkSync(join(folder.path, 'project'), join(folder.path, 'alias'));
  const included = new IncludedFiles({ allowed: new AllowedFiles(), consent: 'it may be read' });
  included.addFolder(join(folder.path, 'alias'), 'the folder', false);
  expect(included.read(join(folder.path, 'alias/lib/good.pact'))).toBe('(+ 1 2)');
  expect(included.read(join(folder.path, 'project/lib/good.pact'))).toBe('(+ 1 2)');
  expect(included.read(relative('.', join(folder.path, 'alias/lib/good.pact')))).toBe('(+ 1 2)');
});

it.each([
  ['C:\\project\\nul', true],
  ['C:\\project\\CON.repl', true],
  ['C:\\project\\com1.pact', true],
  ['C:\\project\\LPT² .repl', true],
  ['C:\\con\\a.repl', true],
  ['C:\\project\\.env::$DATA', true],
  ['C:\\project\\a.repl:stream', true],
  ['C:\\project\\console.repl', false],
  ['C:\\project\\com10.repl', false],
  ['C:\\project\\a.repl', false],
])('Windows has a device or a stream at %s: %s', (path, is) => {
  expect(namesDevice(path, 'win32')).toBe(is);
  expect(namesDevice(path, 'linux')).toBe(false);
});
