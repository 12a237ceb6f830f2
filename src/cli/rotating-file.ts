/**
 * A file that only grows, and is rotated: once it has reached its size it becomes FILE.1, FILE.1 becomes FILE.2 and so on.
 * (The package rotating-file-stream follows symbolic links, and takes a file that is there with the mode that it has.)
 */

import { constants } from 'node:fs';
import { type FileHandle, open, readdir, rename } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Writable } from 'node:stream';

/** Its owner's alone. */
const MODE = 0o600;
/** Neither a link is followed, nor a pipe's reader waited for. Windows knows neither flag. */
const CAREFULLY = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
const TO_APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | CAREFULLY;

/**
 * Opens a file to append to, made where there is none, and makes it its owner's alone: mode 0600.
 * @throws Error that says why not: it is a link, no regular file, or of another user.
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
    await handle.chmod(MODE);
    return handle;
  } catch (fault) {
    await handle.close();
    throw fault;
  }
}

const NO_FILE = 'it is there and no regular file';
const UNFIT: Readonly<Record<string, string>> = {
  ELOOP: 'it is a symbolic link. Name the file that it leads to',
  EISDIR: NO_FILE,
  ENXIO: NO_FILE, // a pipe that nobody reads, a socket
};

/**
 * Makes the old files beside it their owner's alone, too.
 * @throws the system's error where that cannot be done.
 */
export async function makeOldPrivate(path: string): Promise<void> {
  const folder = dirname(path);
  const start = `${basename(path)}.`;
  const isOld = (name: string) => name.startsWith(start) && /^\d+$/.test(name.slice(start.length));
  for (const name of (await readdir(folder)).filter(isOld)) {
    const handle = await open(join(folder, name), constants.O_RDONLY | CAREFULLY).catch((fault) => {
      if (fault.code === 'ELOOP') return undefined; // what it leads to is none of ours
      throw fault;
    });
    try {
      if ((await handle?.stat())?.isFile()) await handle?.chmod(MODE);
    } finally {
      await handle?.close();
    }
  }
}

/** Ends with an error when the file cannot be written. */
export class RotatingFile extends Writable {
  readonly #path: string;
  readonly #size: number;
  readonly #keep: number;
  #handle: FileHandle | undefined;
  #bytes = 0;

  /**
   * @param size bytes from which on it is rotated
   * @param keep old files that stay
   */
  constructor(path: string, size: number, keep: number) {
    super();
    this.#path = path;
    this.#size = size;
    this.#keep = keep;
  }

  override _construct(done: Done): void {
    this.#open().then(() => done(), done);
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

  async #append(chunk: Buffer): Promise<void> {
    await this.#handle?.appendFile(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes >= this.#size) await this.#rotate();
  }

  async #open(): Promise<void> {
    this.#handle = await openPrivate(this.#path);
    this.#bytes = (await this.#handle.stat()).size;
    if (this.#bytes >= this.#size) await this.#rotate();
  }

  async #rotate(): Promise<void> {
    await this.#close();
    const names = [this.#path, ...Array.from({ length: this.#keep }, (_, i) => `${this.#path}.${i + 1}`)];
    for (let i = this.#keep; i > 0; i--) {
      await rename(names[i - 1], names[i]).catch((fault) => {
        if (fault.code !== 'ENOENT') throw fault;
      });
    }
    await this.#open();
  }

  async #close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close();
  }
}

type Done = (fault?: Error | null) => void;
