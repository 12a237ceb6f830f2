/** State files, one for each kind, network and account, and the lock that reserves a state file for one process. */

import { createHash, randomBytes } from 'node:crypto';
import * as nodeFs from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { RENAMING, renameFileSync } from '../../base/system/files.ts';
import { LedgerFormatError, quoted } from '../../protocol/ledger/json.ts';
import { isSigned, isUnfinished, parseSweep, type Sweep, sweepToJson } from './sweep-state.ts';

const MODE = 0o600;

/** The functions of `node:fs` through which the state files are read and written. A simulation has files in memory. */
export type StateFileSystem = Pick<
  typeof nodeFs,
  | 'closeSync'
  | 'fsyncSync'
  | 'linkSync'
  | 'mkdirSync'
  | 'openSync'
  | 'readFileSync'
  | 'renameSync'
  | 'rmSync'
  | 'writeFileSync'
>;

/** Thrown if a state file cannot be used. The message gives the reason, and often a remedy. */
export class StoreFault extends Error {
  override readonly name = 'StoreFault';
}

/** The kind of a state, as it is called in messages and file names. A payment is called `transfer`. */
export type Kind = 'sweep' | 'transfer';

export class SweepStore {
  readonly file: string;
  readonly #kind: Kind;
  readonly #network: string;
  readonly #account: string;
  readonly #lock: Lock;
  readonly #fs: StateFileSystem;

  /** @param directory the folder of the state files. `open` creates it if necessary */
  constructor(directory: string, network: string, account: string, kind: Kind = 'sweep', fs: StateFileSystem = nodeFs) {
    const hash = createHash('sha256')
      .update(JSON.stringify([network, account]))
      .digest('hex')
      .slice(0, 16);
    const readable = `${network}-${account}`.replace(/[^\w-]/g, '_').slice(0, 40);
    this.file = join(directory, `${kind}-${readable}-${hash}.json`);
    this.#kind = kind;
    this.#network = network;
    this.#account = account;
    this.#fs = fs;
    this.#lock = new Lock(`${this.file}.lock`, kind, fs);
  }

  /**
   * Locks the file against other processes until `close`.
   * @throws StoreFault if another process has, or may have, the lock, or if the lock cannot be written
   */
  open(): void {
    this.#orFault(() => {
      this.#fs.mkdirSync(dirname(this.file), { recursive: true, mode: 0o700 });
      this.#lock.take();
      // An earlier process may have ended after it renamed a file, and before the new name was on the disk.
      syncDirectory(this.#fs, dirname(this.file));
    });
  }

  close(): void {
    this.#lock.release();
  }

  /**
   * @returns the state; undefined if there is no file
   * @throws StoreFault if the file cannot be read, is damaged, or is for another network or account
   */
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
   * Writes the state of a new sweep. The file of an earlier sweep is renamed if that sweep is finished, and overwritten
   * if no command of it was signed.
   * @throws StoreFault if an earlier sweep is signed and unfinished, if the existing file cannot be loaded, or if the
   *   state cannot be written
   */
  begin(sweep: Sweep): void {
    const before = this.load();
    if (before && isUnfinished(before) && isSigned(before))
      throw new StoreFault(`An earlier ${this.#kind} is unfinished: finish it with --resume.`);
    if (before && !isUnfinished(before))
      this.#orFault(() => this.#rename(this.file, this.file.replace(/json$/, `${before.startedMs}.json`)));
    this.save(sweep);
  }

  /** Writes the state, and returns once it is on disk. @throws StoreFault if it cannot be written */
  save(sweep: Sweep): void {
    const fs = this.#fs;
    const unfinished = `${this.file}.unfinished`;
    this.#orFault(() => {
      try {
        // The file is always created anew. Otherwise, a link that another user has placed there would be followed.
        fs.rmSync(unfinished, { force: true });
        const fd = fs.openSync(unfinished, 'wx', MODE);
        try {
          fs.writeFileSync(fd, sweepToJson(sweep));
          fs.fsyncSync(fd);
        } finally {
          fs.closeSync(fd);
        }
        this.#rename(unfinished, this.file);
        syncDirectory(fs, dirname(this.file));
      } catch (error) {
        fs.rmSync(unfinished, { force: true });
        throw error;
      }
    });
  }

  #rename(from: string, to: string): void {
    renameFileSync(from, to, { ...RENAMING, rename: this.#fs.renameSync });
  }

  #read(file: string): string | undefined {
    try {
      return this.#fs.readFileSync(file, 'utf8');
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

/** Makes the renaming of a file in a directory durable. Windows cannot open directories, and needs no such call. */
function syncDirectory(fs: StateFileSystem, directory: string): void {
  if (process.platform === 'win32') return;
  const fd = fs.openSync(directory, 'r');
  try {
    fs.fsyncSync(fd);
  } finally {
    fs.closeSync(fd);
  }
}

/* Locks. */

/** Error codes of `link` on file systems that have no hard links. */
const NO_LINKS: ReadonlySet<string | undefined> = new Set([
  'EPERM',
  'EACCES',
  'ENOTSUP',
  'EOPNOTSUPP',
  'ENOSYS',
  'EINVAL',
]);

/** Thrown if another process has the lock, or may have it. The message includes a remedy. */
export class LockedError extends Error {
  override readonly name = 'LockedError';
}

export class Lock {
  readonly #file: string;
  readonly #what: string;
  /**
   * The file of a second lock. It is held while the lock of an ended process is replaced, so that no other process
   * replaces the same lock and thereby removes the new one.
   */
  readonly #removal: string;
  readonly #fs: StateFileSystem;
  #isHeld = false;

  /** @param what a noun for the locked thing, for messages */
  constructor(file: string, what = 'sweep', fs: StateFileSystem = nodeFs) {
    this.#what = what;
    this.#fs = fs;
    this.#file = file;
    this.#removal = `${file}.removal`;
  }

  /**
   * Takes the lock. The lock of a process that has ended is replaced.
   * @throws LockedError, or a system error if the lock file cannot be written
   */
  take(): void {
    if (!create(this.#fs, this.#file)) this.#takeFromGone();
    this.#isHeld = true;
  }

  release(): void {
    if (this.#isHeld) this.#fs.rmSync(this.#file, { force: true });
    this.#isHeld = false;
  }

  #takeFromGone(): void {
    const owner = textOf(this.#fs, this.#file);
    if (!isGone(owner) || !create(this.#fs, this.#removal)) throw this.#locked(owner);
    try {
      if (textOf(this.#fs, this.#file) === owner) this.#fs.rmSync(this.#file, { force: true });
      if (!create(this.#fs, this.#file)) throw this.#locked(textOf(this.#fs, this.#file));
    } finally {
      this.#fs.rmSync(this.#removal, { force: true });
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
 * Creates a lock file that names its owner: the process id, the host name and a random text. On file systems with hard
 * links, the file gets its name only once it is written, so no interruption leaves a lock file without an owner.
 * @returns false if the lock file exists already
 */
function create(fs: StateFileSystem, file: string): boolean {
  const id = randomBytes(6).toString('hex');
  const text = `${process.pid} ${hostname()} ${id}`;
  const unfinished = `${file}.${id}`;
  try {
    fs.writeFileSync(unfinished, text, { flag: 'wx', mode: MODE });
    linkOrWrite(fs, unfinished, file, text);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  } finally {
    fs.rmSync(unfinished, { force: true });
  }
}

/**
 * Gives the file `from` a second name, `to`, as a hard link. On file systems without hard links, such as FAT, creates
 * the file `to` with the same text, and removes it if the text cannot be written.
 */
function linkOrWrite(fs: StateFileSystem, from: string, to: string, text: string): void {
  try {
    fs.linkSync(from, to);
    return;
  } catch (error) {
    if (!NO_LINKS.has(codeOf(error))) throw error;
  }
  const fd = fs.openSync(to, 'wx', MODE);
  try {
    fs.writeFileSync(fd, text);
  } catch (error) {
    fs.rmSync(to, { force: true });
    throw error;
  } finally {
    fs.closeSync(fd);
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}

/** @returns the text of the file; empty if the file does not exist */
function textOf(fs: StateFileSystem, file: string): string {
  try {
    return fs.readFileSync(file, 'utf8').trim();
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return '';
    throw error;
  }
}

/**
 * Whether the owner of a lock has ended. A process on another machine or in another container cannot be checked, so it
 * counts as running.
 */
function isGone(owner: string): boolean {
  const [, pid, host] = /^(\d{1,10}) (\S+) \S+$/.exec(owner) ?? [];
  // A text that names no owner has no host either.
  if (host !== hostname()) return false;
  // An owner with the id of this process is an earlier process: in containers, ids are often the same after a restart.
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
