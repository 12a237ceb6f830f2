import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { noteStartError } from '#pickaxe/app/start-error.js';

const folder = mkdtempSync(join(tmpdir(), 'pickaxe-start-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('the error is appended as one line, and the log is not rotated for it', async () => {
  const file = join(folder, 'large.log');
  writeFileSync(file, `${'x'.repeat(11 * 1024 ** 2)}\n`);
  await noteStartError(file, 'no key\nno node');
  const line = readFileSync(file, 'utf8').trimEnd().split('\n').at(-1)!;
  expect(JSON.parse(line)).toEqual({ level: 50, time: expect.any(Number), tag: 'start', msg: 'no key\nno node' });
  expect(existsSync(`${file}.1`)).toBe(false);
});

test('only the owner may read a new file', async () => {
  const file = join(folder, 'new.log');
  await noteStartError(file, 'no key');
  if (process.platform !== 'win32') expect(statSync(file).mode & 0o777).toBe(0o600);
});

test('a file that cannot be written causes no further error, and a link is not followed', async () => {
  await noteStartError(join(folder, 'nowhere', 'a.log'), 'no key');
  const link = join(folder, 'link.log');
  symlinkSync(join(folder, 'led to'), link);
  await noteStartError(link, 'no key');
  await noteStartError(undefined, 'no key');
  expect(existsSync(join(folder, 'led to'))).toBe(false);
});
