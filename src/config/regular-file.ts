/** Reads small regular files as a whole, within a bound. */

import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs';

export interface RegularFile {
  readonly bytes: Buffer;
  readonly facts: Stats;
}

/** The file exists but must not be read; the message says why. */
export class UnfitFile extends Error {}

/**
 * @param most how many bytes the file may have
 * @param judge gets the file's facts before it is read, and returns what is wrong with them
 * @throws UnfitFile when it is not a regular file, has more bytes, or is judged unfit; the system's error when it cannot be read
 */
export function readRegularFile(
  path: string,
  most: number,
  judge: (facts: Stats) => string | undefined = () => undefined,
): RegularFile {
  const bytes = Buffer.alloc(most + 1);
  // Without O_NONBLOCK, opening a named pipe would wait for its writer.
  const handle = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const facts = fstatSync(handle);
    if (!facts.isFile()) throw new UnfitFile(`it is ${facts.isDirectory() ? 'a directory' : 'not a regular file'}`);
    const fault = judge(facts);
    if (fault !== undefined) throw new UnfitFile(fault);
    let length = 0;
    for (let read = -1; read !== 0 && length < bytes.length; length += read) {
      read = readSync(handle, bytes, length, bytes.length - length, length);
    }
    if (length > most) throw new UnfitFile(`it has more than ${most} bytes`);
    return { bytes: bytes.subarray(0, length), facts };
  } finally {
    closeSync(handle);
  }
}
