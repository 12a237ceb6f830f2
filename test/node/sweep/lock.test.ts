/** A lock that is released twice: the second release is not of the lock that another process has taken since. */

import * as nodeFs from 'node:fs';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { Lock, LockedError } from '#pickaxe/node/sweep/state-files.js';

/** The lock of a process on another machine, which counts as running. */
const FOREIGN = '1 another-machine 1';

function lockFile(): { directory: string; file: string } {
  const directory = mkdtempSync(join(tmpdir(), 'pickaxe-lock-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return { directory, file: join(directory, 'lock') };
}

it('a lock that is released twice leaves that of another process', () => {
  const { directory, file } = lockFile();
  const lock = new Lock(file);
  lock.take();
  lock.release();
  expect(readdirSync(directory)).toEqual([]);
  writeFileSync(file, FOREIGN);
  lock.release();
  expect(readFileSync(file, 'utf8')).toBe(FOREIGN);
});

it('a lock that was never taken, or was refused, leaves that of another process', () => {
  const { file } = lockFile();
  const lock = new Lock(file);
  writeFileSync(file, FOREIGN);
  lock.release();
  expect(() => lock.take()).toThrow(LockedError);
  lock.release();
  expect(readFileSync(file, 'utf8')).toBe(FOREIGN);
});

it('a lock can be taken again after its release, and is then released, too', () => {
  const { directory, file } = lockFile();
  const lock = new Lock(file);
  for (let round = 0; round < 2; round++) {
    lock.take();
    expect(readdirSync(directory)).toEqual(['lock']);
    lock.release();
    expect(readdirSync(directory)).toEqual([]);
  }
});

it.each([
  ['of an earlier process with the id of this one', `${process.pid} ${hostname()} 1`, true],
  ['of a process on another machine with the id of this one', `${process.pid} another-machine 1`, false],
  ['without an owner', '', false],
  ['of something else', 'nobody', false],
])('a lock %s is replaced: %s', (_, owner, isReplaced) => {
  const { directory, file } = lockFile();
  writeFileSync(file, owner);
  const lock = new Lock(file);
  if (isReplaced) lock.take();
  else expect(() => lock.take()).toThrow(LockedError);
  lock.release();
  expect(readdirSync(directory)).toEqual(isReplaced ? [] : ['lock']);
});

it('a lock that is released while it is read is refused once more, without its owner', () => {
  const { file } = lockFile();
  writeFileSync(file, FOREIGN);
  const readFile = (...asked: Parameters<typeof readFileSync>) => {
    rmSync(file, { force: true });
    return readFileSync(...asked);
  };
  const lock = new Lock(file, 'sweep', { ...nodeFs, readFileSync: readFile as typeof readFileSync });
  expect(() => lock.take()).toThrow(/^Another process works on this sweep\. /);
  lock.take();
  lock.release();
});

it('a lock of an ended process that a person removes meanwhile is taken', () => {
  const { directory, file } = lockFile();
  writeFileSync(file, `${process.pid} ${hostname()} 1`);
  const readFile = (...asked: Parameters<typeof readFileSync>) => {
    const text = readFileSync(...asked);
    rmSync(file);
    return text;
  };
  const lock = new Lock(file, 'sweep', { ...nodeFs, readFileSync: readFile as typeof readFileSync });
  lock.take();
  expect(readdirSync(directory)).toEqual(['lock']);
  lock.release();
  expect(readdirSync(directory)).toEqual([]);
});
