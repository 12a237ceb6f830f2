/** Creates files with a mode of their own. */

import { closeSync, openSync, rmSync, writeFileSync } from 'node:fs';

/** The mode of a file with a secret: only its owner may read it. */
export const SECRET_MODE = 0o600;

/**
 * Leaves nothing behind when the disk is full.
 * @param file it must not exist yet
 * @throws Error of the system, with the code EEXIST when the file exists
 */
export function createFile(file: string, text: string, mode: number): void {
  const fd = openSync(file, 'wx', mode);
  let whole = false;
  try {
    writeFileSync(fd, text);
    whole = true;
  } finally {
    closeSync(fd);
    if (!whole) rmSync(file, { force: true });
  }
}
