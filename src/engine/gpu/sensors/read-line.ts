/** Reads files of sysfs: each holds one short line, which the driver generates when the file is read. */

import { open } from 'node:fs/promises';

/** More than the length of any number or label that is read here. */
const MAX_BYTES = 64;

/** @returns the line without surrounding white space; undefined when the file cannot be read */
export async function readLine(path: string): Promise<string | undefined> {
  try {
    const file = await open(path);
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_BYTES), 0, MAX_BYTES, 0);
      return buffer.toString('latin1', 0, bytesRead).trim();
    } finally {
      await file.close();
    }
  } catch {
    return undefined; // The driver was unloaded, or the card sleeps and the driver answers EPERM, EBUSY, ENODATA …
  }
}

/** @returns a whole number of at most 20 digits, enough for 64 bits; undefined for any other content */
export async function readInteger(path: string): Promise<number | undefined> {
  const line = await readLine(path);
  return line !== undefined && /^-?\d{1,20}$/.test(line) ? Number(line) : undefined;
}
