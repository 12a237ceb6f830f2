/** Reads small regular files as a whole, within a bound. */

import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, type Stats } from 'node:fs';

export interface RegularFile {
  readonly bytes: Buffer;
  readonly facts: Stats;
}

/** Thrown if a file exists but must not be read. The message is a clause. */
export class UnfitFile extends Error {}

/**
 * @param most maximum number of bytes @param check returns what is wrong with the file's facts, before it is read
 * @throws UnfitFile when it is not a regular file, is too large, or does not pass the check; the system's error when it
 * cannot be read
 */
export function readRegularFile(
  path: string,
  most: number,
  check: (facts: Stats) => string | undefined = () => undefined,
): RegularFile {
  const bytes = Buffer.alloc(most + 1);
  // Without O_NONBLOCK, opening a named pipe would wait for its writer.
  const handle = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const facts = fstatSync(handle);
    if (!facts.isFile()) throw new UnfitFile(`it is ${facts.isDirectory() ? 'a directory' : 'not a regular file'}`);
    const fault = check(facts);
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

/** @returns the reason of a read error, as a clause: `there is no such file` */
export function whyUnreadable({ code, message }: NodeJS.ErrnoException, path: string): string {
  if (code === 'ENOENT') return isThere(path) ? 'it is a link to a file that does not exist' : 'there is no such file';
  if (code === 'EACCES') return 'this user may not read it';
  if (code === 'ELOOP') return 'it is a link that leads to itself';
  if (code === 'EISDIR') return 'it is a directory';
  return `the system says ${message}`;
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/* Which files are trusted. docs/configuration.md explains the rule under “Which files are trusted”. */

const ROOT = 0;

/** Permission bits of group and others that a file must not have. */
const TOO_MUCH = {
  /** Settings decide who is paid and which commands run. */
  settings: { bits: 0o022, what: 'write to it', remedy: 'go-w' },
  secret: { bits: 0o066, what: 'read or write it', remedy: 'go-rwx' },
} as const;

/** A service's secret is often in a file that belongs to root and that the service's group may read. */
const GROUP_MAY_READ = 0o040;

/**
 * @param facts those of the open descriptor, so that a symbolic link's target counts
 * @param user undefined on Windows, where files have no such owners and bits, and all are trusted
 * @returns the reason for which the file is not trusted, with a remedy; undefined when it is trusted
 */
export function distrust(
  file: string,
  holds: keyof typeof TOO_MUCH,
  { uid, mode }: Pick<Stats, 'uid' | 'mode'>,
  user = process.geteuid?.(),
): string | undefined {
  if (user === undefined) return undefined;
  if (uid !== user && uid !== ROOT) {
    return `it belongs to another user (uid ${uid}). If you trust its contents, make it yours (chown ${user} ${file})`;
  }
  const { bits, what, remedy } = TOO_MUCH[holds];
  const refused = uid === ROOT ? bits & ~GROUP_MAY_READ : bits;
  if ((mode & refused) === 0) return undefined;
  return `other users than its owner may ${what}. Forbid that (chmod ${remedy} ${file})`;
}
