import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { noteStartError } from '#pickaxe/app/process/log-file.js';

const folder = mkdtempSync(join(tmpdir(), 'pickaxe-start-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** @returns where a link leads; undefined if there is none, as for the descriptor that has listed its folder */
function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

const lastLines = (file: string) => readFileSync(file, 'utf8').trimEnd().split('\n').slice(-2);

test('the lines of the error are appended, and the log is not rotated for them', async () => {
  const file = join(folder, 'large.log');
  writeFileSync(file, `${'x'.repeat(11 * 1024 ** 2)}\n`);
  await noteStartError({ file, format: 'json' }, 'no key\nno node');
  const entry = { level: 'error', timeMillis: expect.any(Number), tag: 'start' };
  expect(lastLines(file).map((line) => JSON.parse(line))).toEqual([
    { ...entry, message: 'no key' },
    { ...entry, message: 'no node' },
  ]);
  expect(existsSync(`${file}.1`)).toBe(false);
});

test('in a log for people they are lines like the others', async () => {
  const file = join(folder, 'text.log');
  await noteStartError({ file, format: 'text' }, 'no key\nno node');
  expect(readFileSync(file, 'utf8').replace(/\d/g, '0')).toBe(
    ['no key', 'no node'].map((line) => `[0000-00-00 00:00:00.000] ERROR: start ${line}\n`).join(''),
  );
});

test('only the owner may read a new file', async () => {
  const file = join(folder, 'new.log');
  await noteStartError({ file, format: 'text' }, 'no key');
  if (process.platform !== 'win32') expect(statSync(file).mode & 0o777).toBe(0o600);
});

test.skipIf(process.platform !== 'linux')('the file is closed', async () => {
  const file = join(folder, 'closed.log');
  await noteStartError({ file, format: 'text' }, 'no key');
  const open = readdirSync('/proc/self/fd').map((fd) => linkOf(join('/proc/self/fd', fd)));
  expect(open).not.toContain(file);
});

test('a file that cannot be written causes no further error, and a link is not followed', async () => {
  await noteStartError({ file: join(folder, 'nowhere', 'a.log'), format: 'text' }, 'no key');
  const link = join(folder, 'link.log');
  symlinkSync(join(folder, 'led to'), link);
  await noteStartError({ file: link, format: 'text' }, 'no key');
  await noteStartError({ format: 'text' }, 'no key');
  expect(existsSync(join(folder, 'led to'))).toBe(false);
});
