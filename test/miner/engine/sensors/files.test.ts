import { existsSync, mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { channels, isRefused, list, readInteger, readLine, readSysfs } from '#pickaxe/miner/engine/sensors.js';

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'pickaxe-sensor-files-'));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

function fileOf(text: string): string {
  const file = join(folder(), 'energy_uj');
  writeFileSync(file, text);
  return file;
}

const OPEN_FILES = '/proc/self/fd';

/** @returns how often this process has the file open */
function timesOpen(file: string): number {
  return readdirSync(OPEN_FILES).filter((name) => {
    try {
      return readlinkSync(join(OPEN_FILES, name)) === file;
    } catch {
      return false; // It has been closed since the folder was read.
    }
  }).length;
}

test.runIf(existsSync(OPEN_FILES))('files stay open no longer than they are read, however often that is', async () => {
  const file = fileOf('123\n');
  for (let i = 0; i < 5; i++) expect(await readSysfs(file)).toBe('123\n');
  expect(timesOpen(file)).toBe(0);
  await expect(readSysfs(join(file, '..'))).rejects.toMatchObject({ code: 'EISDIR' });
  expect(timesOpen(join(file, '..'))).toBe(0);
});

test('the beginning of a file is read, of which there is enough for any number', async () => {
  expect(await readSysfs(fileOf('9'.repeat(1_000)))).toBe('9'.repeat(64));
  expect(await readLine(fileOf('  Core °C\n'))).toBe(Buffer.from('Core °C').toString('latin1'));
});

test.each([
  ['0\n', 0],
  ['-12\n', -12],
  [`${'9'.repeat(20)}\n`, 1e20],
  [`${'9'.repeat(21)}\n`, undefined],
  ['1.5\n', undefined],
  ['0x10\n', undefined],
  ['<unknown>\n', undefined],
  ['', undefined],
])('%j is the integer %s', async (text, value) => {
  expect(await readInteger(fileOf(text))).toBe(value);
});

test('a file that cannot be read has no line and no integer, and a folder no files', async () => {
  const gone = join(folder(), 'gone');
  expect(await readLine(gone)).toBeUndefined();
  expect(await readInteger(gone)).toBeUndefined();
  expect(await list(gone)).toEqual([]);
});

test.each([
  ['EACCES', true],
  ['EPERM', true],
  ['ENOENT', false],
  ['EIO', false],
  [undefined, false],
])('a file that fails with %s is one that the system refuses: %s', async (code, refused) => {
  const read = () => Promise.reject(Object.assign(new Error('no'), code && { code }));
  expect(await isRefused('/x', read)).toBe(refused);
  expect(await isRefused('/x', async () => '1')).toBe(false);
});

test('channels are those with an input, in the order of their numbers', () => {
  const files = [
    'temp10_input',
    'temp2_input',
    'temp1_label',
    'temp1_input',
    'fan1_input',
    'temp1234_input',
    'atemp3_input',
  ];
  expect(channels(files, 'temp')).toEqual(['temp1', 'temp2', 'temp10']);
  expect(channels(files, 'power')).toEqual([]);
});
