/** Files that are appended to while other programs rename and delete them. */

import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { PrivateFile } from '#pickaxe/base/system/private-file.js';

const root = mkdtempSync(join(tmpdir(), 'pickaxe-private-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let folders = 0;
let path: string;
beforeEach(() => {
  path = join(root, String(folders++), 'file');
  mkdirSync(join(path, '..'));
});

function opened(): PrivateFile {
  const file = new PrivateFile(path);
  onTestFinished(() => file.close());
  return file;
}

const append = (file: PrivateFile, text: string) => file.append(Buffer.from(text));
const text = (of = path) => readFileSync(of, 'utf8');

describe('a file that is appended to', () => {
  it('keeps what it had, and knows its size', async () => {
    writeFileSync(path, 'before\n');
    const file = opened();
    expect(await append(file, 'after\n')).toBe(6);
    expect([text(), file.size]).toEqual(['before\nafter\n', 13]);
  });

  it('is made anew when it was renamed, as by logrotate', async () => {
    const file = opened();
    await append(file, 'first\n');
    renameSync(path, `${path}-old`);
    await append(file, 'second\n');
    expect([text(`${path}-old`), text(), file.size]).toEqual(['first\n', 'second\n', 7]);
    expect(process.platform === 'win32' || statSync(path).mode & 0o777).toBe(process.platform === 'win32' || 0o600);
  });

  it('is made anew when it was deleted', async () => {
    const file = opened();
    await append(file, 'first\n');
    unlinkSync(path);
    await append(file, 'second\n');
    expect(text()).toBe('second\n');
  });

  it('is the new one when another was put in its place', async () => {
    const file = opened();
    await append(file, 'first\n');
    writeFileSync(`${path}-new`, 'new\n');
    renameSync(`${path}-new`, path);
    await append(file, 'second\n');
    expect(text()).toBe('new\nsecond\n');
  });

  it('is opened once, as long as it stays in its place', async () => {
    const file = opened();
    const handle = await file.open();
    await append(file, 'first\n');
    expect(await file.open()).toBe(handle);
    renameSync(path, `${path}-old`);
    expect(await file.open()).not.toBe(handle);
  });

  it.skipIf(process.platform === 'win32')('is written on where its path cannot be looked at', async () => {
    const file = opened();
    await append(file, 'first\n');
    const folder = join(path, '..');
    renameSync(folder, `${folder}-away`);
    writeFileSync(folder, 'a file in the place of the folder');
    await append(file, 'second\n');
    expect(text(join(`${folder}-away`, 'file'))).toBe('first\nsecond\n');
  });

  it('goes on where it was truncated', async () => {
    const file = opened();
    await append(file, 'first\n');
    writeFileSync(path, '');
    await append(file, 'second\n');
    expect([text(), file.size]).toEqual(['second\n', 7]);
  });

  it('is refused when its folder is gone, and opened again once that is back', async () => {
    const file = opened();
    await append(file, 'first\n');
    const folder = join(path, '..');
    renameSync(folder, `${folder}-away`);
    await expect(append(file, 'lost\n')).rejects.toThrow('ENOENT');
    renameSync(`${folder}-away`, folder);
    await append(file, 'second\n');
    expect(text()).toBe('first\nsecond\n');
  });

  it.skipIf(process.platform === 'win32')('is refused when a link was put in its place', async () => {
    const file = opened();
    await append(file, 'first\n');
    renameSync(path, `${path}-old`);
    symlinkSync(`${path}-led`, path);
    await expect(append(file, 'second\n')).rejects.toThrow('symbolic link');
    expect(existsSync(`${path}-led`)).toBe(false);
  });
});
