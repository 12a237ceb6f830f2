/** A file that says which process works on something, so that no other one does. */

import { randomBytes } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';

/** Only the owner may read and write. */
const MODE = 0o600;

/** Another process has it, or may have it. The message says what to do. */
export class LockedError extends Error {
  override readonly name = 'LockedError';
}

export class Lock {
  readonly #file: string;
  /** Whoever removes the lock of a process that is gone has this file meanwhile, so that nobody removes a newer lock. */
  readonly #removal: string;
  #isHeld = false;

  constructor(file: string) {
    this.#file = file;
    this.#removal = `${file}.removal`;
  }

  /** @throws LockedError, or Error of the system when the file cannot be written */
  take(): void {
    if (!create(this.#file)) this.#takeFromGone();
    this.#isHeld = true;
  }

  release(): void {
    if (this.#isHeld) rmSync(this.#file, { force: true });
    this.#isHeld = false;
  }

  #takeFromGone(): void {
    const owner = textOf(this.#file);
    if (!isGone(owner) || !create(this.#removal)) throw this.#locked(owner);
    try {
      if (textOf(this.#file) === owner) rmSync(this.#file, { force: true });
      if (!create(this.#file)) throw this.#locked(textOf(this.#file));
    } finally {
      rmSync(this.#removal, { force: true });
    }
  }

  #locked(owner: string): LockedError {
    const [pid, host] = owner.split(' ');
    const who = pid === '' ? 'Another process' : `Process ${pid}${host === hostname() ? '' : ` on ${host}`}`;
    return new LockedError(
      `${who} works on this sweep. Wait until it has ended; if there is none, remove ${this.#file} and ${this.#removal}`,
    );
  }
}

/** @returns false when there is such a file already */
function create(file: string): boolean {
  try {
    writeFileSync(file, `${process.pid} ${hostname()} ${randomBytes(6).toString('hex')}`, { flag: 'wx', mode: MODE });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** @returns what its process has written; empty when it has gone or is just being written */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}

/** Of a process on another machine, or in another container, nobody can tell from here. */
function isGone(owner: string): boolean {
  const [, pid, host] = /^(\d{1,10}) (\S+) \S+$/.exec(owner) ?? [];
  if (pid === undefined || host !== hostname()) return false;
  // In a container, the process before this one may have had the same number.
  return Number(pid) === process.pid || !isAlive(Number(pid));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
