/**
 * An append-only file with rotation: at the size limit FILE is renamed to FILE.1, FILE.1 to FILE.2, and so on. The package
 * rotating-file-stream is not used, because it follows symbolic links and keeps the mode of an existing file.
 */

import { constants } from 'node:fs';
import { type FileHandle, lstat, open, readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Writable } from 'node:stream';
import { CAREFULLY, chmodWhereModesAre, openPrivate } from '../system/private-file.ts';
import { renameFile } from '../system/rename.ts';

/**
 * Sets the mode of the rotated files to 0600, too. Symbolic links and files of other users stay as they are.
 * @throws Error of the system when a mode cannot be set.
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
  /** The size at which the file is rotated, in bytes. */
  readonly size: number;
  /** How many rotated files are kept. */
  readonly keep: number;
  /** Called when the rotation failed. The file goes on growing; rotation is tried again after another `size` bytes. */
  readonly unrotated: (fault: Error) => void;
}

/** The stream is destroyed with an error when the file cannot be written. */
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

/** Renames FILE to FILE.1 and so on, up to the first free name, so that no file is renamed without need. */
async function shift(path: string, keep: number): Promise<void> {
  const names = [path];
  for (let i = 1; i <= keep && (await exists(names[i - 1])); i++) names.push(`${path}.${i}`);
  for (let i = names.length - 1; i > 0; i--) await renameFile(names[i - 1], names[i]);
}

async function exists(path: string): Promise<boolean> {
  const facts = await lstat(path).catch((fault) => {
    if (fault.code === 'ENOENT') return undefined;
    throw fault;
  });
  return facts !== undefined;
}

type Done = (fault?: Error | null) => void;
