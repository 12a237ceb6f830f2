/** Reads files of sysfs: each holds one short line, which the driver generates when the file is read. */

import { open } from 'node:fs/promises';

/** More than the length of any number or label that is read here. */
const MAX_BYTES = 64;

/**
 * Reads the beginning of a file. Tests replace it, because the files' modes do not hold for root.
 * @throws the system's error, whose `code` says why the file cannot be read.
 */
export type ReadSysfs = (path: string) => Promise<string>;

export const readSysfs: ReadSysfs = async (path) => {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_BYTES), 0, MAX_BYTES, 0);
    return buffer.toString('latin1', 0, bytesRead);
  } finally {
    await file.close();
  }
};

/** @returns the line without surrounding white space; undefined when the file cannot be read */
export async function readLine(path: string, read = readSysfs): Promise<string | undefined> {
  try {
    return (await read(path)).trim();
  } catch {
    return undefined; // The driver was unloaded, or the device sleeps and the driver answers EPERM, EBUSY, ENODATA …
  }
}

/** @returns a whole number of at most 20 digits, enough for 64 bits; undefined for any other content */
export async function readInteger(path: string, read = readSysfs): Promise<number | undefined> {
  const line = await readLine(path, read);
  return line !== undefined && /^-?\d{1,20}$/.test(line) ? Number(line) : undefined;
}

/** @returns whether the file is there and the system refuses to let this process read it */
export async function isRefused(path: string, read = readSysfs): Promise<boolean> {
  try {
    await read(path);
    return false;
  } catch (error) {
    return ['EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '');
  }
}
