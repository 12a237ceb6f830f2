/**
 * Keeps the state of a sweep or of a payment on disk: one file of each for each network and account, which only its
 * owner can read, replaced as a whole. What it says is on the disk before `save` returns.
 */

import { createHash, randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { LedgerFormatError, quoted } from '../ledger/json.ts';
import { renameFileSync } from '../system/files.ts';
import { isSigned, isUnfinished, parseSweep, type Sweep, sweepToJson } from './state.ts';

/** Only the owner may read and write. */
const MODE = 0o600;

/** The file cannot be used. The message says what to do. */
export class StoreFault extends Error {
  override readonly name = 'StoreFault';
}

/** What a file has the state of, as messages and file names call it: a payment is a `transfer`. */
export type Kind = 'sweep' | 'transfer';

export class SweepStore {
  /** The file with the state. */
  readonly file: string;
  readonly #kind: Kind;
  readonly #network: string;
  readonly #account: string;
  readonly #lock: Lock;

  /** @param directory is created when something is written */
  constructor(directory: string, network: string, account: string, kind: Kind = 'sweep') {
    const hash = createHash('sha256')
      .update(JSON.stringify([network, account]))
      .digest('hex')
      .slice(0, 16);
    const readable = `${network}-${account}`.replace(/[^\w-]/g, '_').slice(0, 40);
    this.file = join(directory, `${kind}-${readable}-${hash}.json`);
    this.#kind = kind;
    this.#network = network;
    this.#account = account;
    this.#lock = new Lock(`${this.file}.lock`, kind);
  }

  /** Keeps other processes from this file until `close`. @throws StoreFault while another process has it */
  open(): void {
    this.#orFault(() => {
      mkdirSync(dirname(this.file), { recursive: true, mode: 0o700 });
      this.#lock.take();
    });
  }

  close(): void {
    this.#lock.release();
  }

  /** @returns undefined when there is none @throws StoreFault for a file that is damaged */
  load(): Sweep | undefined {
    const text = this.#read(this.file);
    if (text === undefined) return undefined;
    const sweep = this.#parsed(text);
    const { network, account } = sweep;
    if (network === this.#network && account === this.#account) return sweep;
    throw new StoreFault(`${this.file} is the ${this.#kind} of ${quoted(account)} on ${quoted(network)}: move it away`);
  }

  #parsed(text: string): Sweep {
    try {
      return parseSweep(text);
    } catch (error) {
      if (!(error instanceof LedgerFormatError)) throw error;
      throw new StoreFault(`${this.file} is damaged, or of another version of pickaxe: ${error.message}`);
    }
  }

  /**
   * Puts a new one in the place of one that is finished, whose file gets a name of its own, or of one that was never
   * signed, whose file is overwritten.
   * @throws StoreFault
   */
  begin(sweep: Sweep): void {
    const before = this.load();
    if (before && isUnfinished(before) && isSigned(before))
      throw new StoreFault(`An earlier ${this.#kind} is unfinished: finish it with --resume.`);
    if (before && !isUnfinished(before))
      this.#orFault(() => renameFileSync(this.file, this.file.replace(/json$/, `${before.startedMs}.json`)));
    this.save(sweep);
  }

  /** @throws StoreFault when the state is not on the disk */
  save(sweep: Sweep): void {
    const unfinished = `${this.file}.unfinished`;
    this.#orFault(() => {
      try {
        // What a crash has left goes first: a new file is made, so no link is followed that somebody has put there.
        rmSync(unfinished, { force: true });
        const fd = openSync(unfinished, 'wx', MODE);
        try {
          writeFileSync(fd, sweepToJson(sweep));
          fsyncSync(fd);
        } finally {
          closeSync(fd);
        }
        renameFileSync(unfinished, this.file);
        syncDirectory(dirname(this.file));
      } catch (error) {
        rmSync(unfinished, { force: true });
        throw error;
      }
    });
  }

  #read(file: string): string | undefined {
    try {
      return readFileSync(file, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw this.#fault(error);
    }
  }

  #orFault(act: () => void): void {
    try {
      act();
    } catch (error) {
      throw this.#fault(error);
    }
  }

  #fault(error: unknown): StoreFault {
    if (error instanceof LockedError) return new StoreFault(error.message);
    return new StoreFault(`The state of the ${this.#kind} cannot be kept: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

/** Makes a renaming last. Windows cannot open directories, and needs no such call. */
function syncDirectory(directory: string): void {
  if (process.platform === 'win32') return;
  const fd = openSync(directory, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/* A file that says which process works on something, so that no other one does. */

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
  /**
   * Whoever removes the lock of a process that is gone has this file meanwhile, so that nobody removes a newer lock.
   */
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
