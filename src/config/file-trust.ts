/** Which files are trusted. docs/configuration.md explains the rule under “Which files are trusted”. */

import type { Stats } from 'node:fs';

const ROOT = 0;

/** The permission bits of group and others that a file must not have, by what it holds. */
const TOO_MUCH = {
  /** Settings say who is paid and which commands run. */
  settings: { bits: 0o022, what: 'write to it', remedy: 'go-w' },
  secret: { bits: 0o066, what: 'read or write it', remedy: 'go-rwx' },
} as const;

/** Systems hand a secret to a service in a file that belongs to root and that the service's group may read. */
const GROUP_MAY_READ = 0o040;

/**
 * @param file as people are to read it in errors
 * @param facts those of the open descriptor: a symbolic link is judged by the file that it leads to
 * @param user the user who reads it; undefined on Windows, where files have no such owners and bits, and all are trusted
 * @returns why it is not trusted and what to do about it; undefined when it is trusted
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
