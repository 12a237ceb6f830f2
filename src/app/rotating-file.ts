/**
 * A file that only grows, and is rotated: once it has reached its size it becomes FILE.1, FILE.1 becomes FILE.2 and so on.
 * (The package rotating-file-stream follows symbolic links, and takes a file that is there with the mode that it has.)
 */

import { constants } from 'node:fs';
import { type FileHandle, lstat, open, readdir, rename } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Writable } from 'node:stream';

/** Its owner's alone. */
const MODE = 0o600;
/** Neither a link is followed, nor a pipe's reader waited for. Windows knows neither flag. */
const CAREFULLY = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
const TO_APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | CAREFULLY;

/**
 * Opens a file to append to, made where there is none, and makes it its owner's alone: mode 0600.
 * @throws Error that says why not: it is a link, not a regular file, or another user's
 */
export async function openPrivate(path: string): Promise<FileHandle> {
  const handle = await open(path, TO_APPEND, MODE).catch((fault: NodeJS.ErrnoException) => {
    throw new Error(UNFIT[fault.code ?? ''] ?? fault.message, { cause: fault });
  });
  try {
    const facts = await handle.stat();
    if (!facts.isFile()) throw new Error(NO_FILE);
    const user = process.geteuid?.() ?? facts.uid;
    if (facts.uid !== user) throw new Error(`it belongs to another user (uid ${facts.uid})`);
    await chmodWhereModesAre(handle);
    return handle;
  } catch (fault) {
    await handle.close();
    throw fault;
  }
}

/** FAT has no modes: there, whoever mounts it says who may read its files. */
async function chmodWhereModesAre(handle: FileHandle): Promise<void> {
  await handle.chmod(MODE).catch((fault) => {
    if (fault.code !== 'EPERM') throw fault;
  });
}

const NO_FILE = 'it exists and is not a regular file';
const UNFIT: Readonly<Record<string, string>> = {
  ELOOP: 'it is a symbolic link. Name the file that it leads to',
  EISDIR: NO_FILE,
  ENXIO: NO_FILE, // a pipe that nobody reads, a socket
};

/**
 * Makes the old files beside it their owner's alone, too. Another user's stay as they are, and so does what a link leads to.
 * @throws the system's error where that cannot be done.
 */
export async function makeOldPrivate(path: string): Promise<void> {
  const folder = dirname(path);
  const start = `${basename(path)}.`;
  const isOld = (name: string) => name.startsWith(start) && /^\d+$/.test(name.slice(start.length));
  for (const name of (await readdir(folder)).filter(isOld)) {
    const handle = await open(join(folder, name), constants.O_RDONLY | CAREFULLY).catch((fault) => {
      if (fault.code === 'ELOOP' || fault.code === 'EACCES') return undefined;
      throw fault;
    });
    try {
      if (handle && (await handle.stat()).isFile()) await chmodWhereModesAre(handle);
    } finally {
      await handle?.close();
    }
  }
}

export interface RotatingFileOptions {
  readonly path: string;
  /** Bytes from which on it is rotated. */
  readonly size: number;
  /** Old files that stay. */
  readonly keep: number;
  /** Told when it could not be rotated: it grows on, and after as many bytes again it is tried again. */
  readonly unrotated: (fault: Error) => void;
}

/** Ends with an error when the file cannot be written. */
export class RotatingFile extends Writable {
  readonly #options: RotatingFileOptions;
  #handle: FileHandle | undefined;
  #bytes = 0;

  constructor(options: RotatingFileOptions) {
    super();
    this.#options = options;
  }

  override _construct(done: Done): void {
    this.#start().then(() => done(), done);
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: Done): void {
    this.#append(chunk).then(() => done(), done);
  }

  override _destroy(fault: Error | null, done: Done): void {
    this.#close().then(
      () => done(fault),
      (closing) => done(fault ?? closing),
    );
  }

  async #start(): Promise<void> {
    await this.#open();
    await this.#rotateWhenFull();
  }

  async #append(chunk: Buffer): Promise<void> {
    await this.#handle?.appendFile(chunk);
    this.#bytes += chunk.length;
    await this.#rotateWhenFull();
  }

  async #open(): Promise<void> {
    this.#handle = await openPrivate(this.#options.path);
    this.#bytes = (await this.#handle.stat()).size;
  }

  async #rotateWhenFull(): Promise<void> {
    const { path, size, keep, unrotated } = this.#options;
    if (this.#bytes < size) return;
    await this.#close();
    const fault = await shift(path, keep).catch((thrown: Error) => thrown);
    await this.#open();
    if (fault === undefined) return;
    this.#bytes = 0;
    unrotated(fault);
  }

  async #close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close();
  }
}

/** Renames FILE to FILE.1 and so on, up to the first name that nothing has: nothing is moved without need. */
async function shift(path: string, keep: number): Promise<void> {
  const names = [path];
  for (let i = 1; i <= keep && (await exists(names[i - 1])); i++) names.push(`${path}.${i}`);
  for (let i = names.length - 1; i > 0; i--) await rename(names[i - 1], names[i]);
}

async function exists(path: string): Promise<boolean> {
  const facts = await lstat(path).catch((fault) => {
    if (fault.code === 'ENOENT') return undefined;
    throw fault;
  });
  return facts !== undefined;
}

type Done = (fault?: Error | null) => void;
