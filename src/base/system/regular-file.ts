/** Reads small regular files up to a maximum size, and decides which files are trusted. */

import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, type Stats } from 'node:fs';

export interface RegularFile {
  readonly bytes: Buffer;
  readonly facts: Stats;
}

/** Thrown if a file exists but must not be read. The message is a clause, such as `it is a directory`. */
export class UnfitFile extends Error {}

/**
 * @param most maximum size of the file, in bytes
 * @param check called with the file's facts before the file is read. Returns what is wrong with them, as a clause, or
 *   undefined
 * @throws UnfitFile when the file is not a regular file, is too large, or does not pass the check; the system's error
 *   when the file cannot be read
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

/** @returns the reason for a read error, as a clause, such as `there is no such file` */
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

/* Which files are trusted. docs/configuration.md explains the rules under “Which files are trusted”. */

const ROOT = 0;

/** Permissions that neither the group of a file nor other users may have. */
const TOO_MUCH = {
  /** Settings decide who is paid and which commands run, so only their owner may write them. */
  settings: { bits: 0o022, what: 'write to it', remedy: 'go-w' },
  secret: { bits: 0o066, what: 'read or write it', remedy: 'go-rwx' },
} as const;

/**
 * The group's permission to read. If a file belongs to root, this permission is allowed: a service's secret is often in
 * such a file, and the file's group is that of the service.
 */
const GROUP_MAY_READ = 0o040;

/**
 * @param file the path, for the remedy
 * @param facts the facts of the open file. For a symbolic link, these are the facts of its target
 * @param user the effective user id. Undefined on Windows, which has no such ids: there, every file is trusted
 * @returns the reason why the file is not trusted, with a remedy; undefined when it is trusted
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
