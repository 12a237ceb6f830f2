// Puts a finished build in the place of the previous one. A program that runs from there finds every file at any
// moment. A folder that is replaced as a whole would be missing between two renames, and Windows refuses to rename a
// folder in use.

import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** Windows does not replace a file that another program, such as a virus scanner, has open. */
const TRIES = process.platform === 'win32' ? 50 : 1;
const PAUSE_MS = 100;
/** Far longer than it takes to write a number into a new file. */
const WRITTEN_MS = 5_000;

/**
 * Gives a folder the files of another one, which it moves. Files with the same content stay, files that the other
 * folder does not have are removed at the end.
 * @param from may not be used afterwards
 */
export function replaceFiles(from, to) {
  const names = new Set(filesIn(from));
  for (const name of names) {
    const [built, place] = [join(from, name), join(to, name)];
    if (existsSync(place) && readFileSync(place).equals(readFileSync(built))) continue;
    mkdirSync(dirname(place), { recursive: true });
    persistently(() => renameSync(built, place));
  }
  for (const name of filesIn(to)) if (!names.has(name)) persistently(() => rmSync(join(to, name)));
  removeEmptyFolders(to);
}

/**
 * Lets only one process at a time do something.
 * @param lock the path of a file that exists meanwhile. The file of a killed process does not count
 */
export function oneAtATime(lock, act) {
  while (!take(lock)) pause();
  const release = () => rmSync(lock, { force: true });
  process.once('exit', release);
  try {
    return act();
  } finally {
    process.off('exit', release);
    release();
  }
}

/** @returns whether this process has the lock now */
function take(lock) {
  try {
    writeFileSync(lock, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    if (isLeft(lock)) rmSync(lock, { force: true });
    return false;
  }
}

function isLeft(lock) {
  try {
    // The number is written a moment after the file is made.
    const text = readFileSync(lock, 'utf8');
    return text === '' ? Date.now() - statSync(lock).mtimeMs > WRITTEN_MS : !isRunning(Number(text));
  } catch {
    return false; // The file is gone.
  }
}

/** Removes the folders that killed processes have left, whose names end with a number of a process. */
export function removeLeft(folder, start) {
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) {
    const [, pid] = name.startsWith(start) ? (/^(\d+)$/.exec(name.slice(start.length)) ?? []) : [];
    if (pid !== undefined && !isRunning(Number(pid))) rmSync(join(folder, name), { recursive: true, force: true });
  }
}

function isRunning(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** @returns the paths of all files in a folder, relative to it */
function filesIn(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
}

function removeEmptyFolders(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (!entry.isDirectory()) continue;
    const path = join(folder, entry.name);
    removeEmptyFolders(path);
    if (readdirSync(path).length === 0) rmdirSync(path);
  }
}

function persistently(act) {
  for (let left = TRIES; ; left--) {
    try {
      act();
      return;
    } catch (error) {
      if (left <= 1) throw error;
      pause();
    }
  }
}

function pause() {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
}
