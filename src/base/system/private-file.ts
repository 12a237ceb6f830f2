/** A private file that is appended to for months, while other programs may rename or delete it. */

import { type FileHandle, lstat } from 'node:fs/promises';
import { openPrivate } from './files.ts';

/**
 * The first call of `open` or `append` opens the file. Later calls open the path again if it leads to another file or
 * to none, as after a run of logrotate.
 */
export class PrivateFile {
  readonly path: string;
  #handle: FileHandle | undefined;
  #inode = 0n;
  #size = 0;

  constructor(path: string) {
    this.path = path;
  }

  /** Size of the file in bytes, as of the last call of `open` or `append`. */
  get size(): number {
    return this.#size;
  }

  /** Opens the file, unless it is open and still at its path. @throws the errors of `openPrivate` */
  async open(): Promise<FileHandle> {
    if (this.#handle && !(await this.#isInPlace())) await this.close();
    if (this.#handle) return this.#handle;
    const handle = await openPrivate(this.path);
    const { ino, size } = await handle.stat({ bigint: true });
    [this.#handle, this.#inode, this.#size] = [handle, ino, Number(size)];
    return handle;
  }

  /** @returns the number of written bytes @throws Error of the system; the next call opens the file again */
  async append(bytes: Buffer): Promise<number> {
    try {
      const { bytesWritten } = await (await this.open()).write(bytes);
      this.#size += bytesWritten;
      return bytesWritten;
    } catch (fault) {
      await this.close().catch(() => {});
      throw fault;
    }
  }

  async close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close();
  }

  /** Whether the path leads to the open file. Updates the size, because another program may have truncated the file. */
  async #isInPlace(): Promise<boolean> {
    try {
      const { ino, size } = await lstat(this.path, { bigint: true });
      // No other file can get the same inode number while the file is open.
      if (ino !== this.#inode) return false;
      this.#size = Number(size);
      return true;
    } catch (fault) {
      // After any other error, the open file can still be written. For example, its folder may no longer be searched.
      return (fault as NodeJS.ErrnoException).code !== 'ENOENT';
    }
  }
}
