/** A private file that is appended to for months, while other programs may rename or delete it. */

import { type FileHandle, lstat } from 'node:fs/promises';
import { openPrivate } from './files.ts';

/**
 * The first call opens the file. When the name leads to another file or to none, as after logrotate, it is opened
 * again.
 */
export class PrivateFile {
  readonly path: string;
  #handle: FileHandle | undefined;
  #inode = 0n;
  #size = 0;

  constructor(path: string) {
    this.path = path;
  }

  /** In bytes, after the last call of `append`. */
  get size(): number {
    return this.#size;
  }

  /** @throws Error that says why it cannot be used, as `openPrivate` */
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

  /** Also notes the size of the file, because another program may have truncated it. */
  async #isInPlace(): Promise<boolean> {
    try {
      const { ino, size } = await lstat(this.path, { bigint: true });
      // The inode number belongs to our file as long as it is open.
      if (ino !== this.#inode) return false;
      this.#size = Number(size);
      return true;
    } catch (fault) {
      // If the folder cannot be searched any more, the open file can still be written.
      return (fault as NodeJS.ErrnoException).code !== 'ENOENT';
    }
  }
}
