/** A file that says which process works on something, so that no other one does. */

import { randomBytes } from 'node:crypto';
import { closeSync, linkSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';

/** Only the owner may read and write. */
const MODE = 0o600;
/** What systems say where links cannot be made. */
const NO_LINKS: ReadonlySet<string | undefined> = new Set([
  'EPERM',
  'EACCES',
  'ENOTSUP',
  'EOPNOTSUPP',
  'ENOSYS',
  'EINVAL',
]);

/** Another process has it, or may have it. The message says what to do. */
export class LockedError extends Error {
  override readonly name = 'LockedError';
}

export class Lock {
  readonly #file: string;
  readonly #what: string;
  /** Whoever removes the lock of a process that is gone has this file meanwhile, so that nobody removes a newer lock. */
  readonly #removal: string;
  #isHeld = false;

  /** @param what messages call that which the lock keeps for one process */
  constructor(file: string, what = 'sweep') {
    this.#what = what;
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
      `${who} works on this ${this.#what}. Wait until it has ended; if there is none, remove ${this.#file} and ${this.#removal}`,
    );
  }
}

/**
 * The file gets its name only once it is written: whatever ends the process, no lock is ever without its owner.
 * @returns false when there is such a file already
 */
function create(file: string): boolean {
  const id = randomBytes(6).toString('hex');
  const text = `${process.pid} ${hostname()} ${id}`;
  const unfinished = `${file}.${id}`;
  try {
    writeFileSync(unfinished, text, { flag: 'wx', mode: MODE });
    linkOrWrite(unfinished, file, text);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(unfinished, { force: true });
  }
}

/** Some file systems, such as FAT, have no links: there, a lock that is not written to its end is removed again. */
function linkOrWrite(from: string, to: string, text: string): void {
  try {
    linkSync(from, to);
    return;
  } catch (error) {
    if (!NO_LINKS.has(codeOf(error))) throw error;
  }
  const fd = openSync(to, 'wx', MODE);
  try {
    writeFileSync(fd, text);
  } catch (error) {
    rmSync(to, { force: true });
    throw error;
  } finally {
    closeSync(fd);
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}

/** @returns what its process has written; empty when it has gone */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return '';
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
    return codeOf(error) === 'EPERM';
  }
}
