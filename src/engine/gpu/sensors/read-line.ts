/** Files of sysfs: one short line each, which the driver makes up as it is read. */

import { open } from 'node:fs/promises';

/** Longer than any number or label that is read here. */
const MAX_BYTES = 64;

/** @returns without the white space around it; undefined when there is no such file, or the driver does not tell */
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
    return undefined; // The file went with its driver, or the card sleeps: drivers answer EPERM, EBUSY, ENODATA …
  }
}

/** @returns a whole number of at most 20 digits, as of 64 bits; undefined for whatever else is in the file */
export async function readInteger(path: string): Promise<number | undefined> {
  const line = await readLine(path);
  return line !== undefined && /^-?\d{1,20}$/.test(line) ? Number(line) : undefined;
}
