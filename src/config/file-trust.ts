/** Whose files are believed. One rule, which docs/configuration.md tells under “Whose files are taken”. */

import type { Stats } from 'node:fs';

const ROOT = 0;

/** Permission bits of the group and of others, by what a file holds. */
const TOO_MUCH = {
  /** They say who is paid, and what commands run. */
  settings: { bits: 0o022, what: 'write to it', remedy: 'go-w' },
  secret: { bits: 0o066, what: 'read or write it', remedy: 'go-rwx' },
} as const;

/** So systems hand a secret to a service: root's, and readable for the service's group. */
const GROUP_MAY_READ = 0o040;

/**
 * @param file as people are to read it in errors
 * @param facts of the descriptor that is read: a symbolic link is judged by what it leads to
 * @param user who reads it; undefined on Windows, where files have no such owners and bits, and all are taken
 * @returns why it is not taken and what to do about it; undefined when it is
 */
export function distrust(
  file: string,
  holds: keyof typeof TOO_MUCH,
  { uid, mode }: Pick<Stats, 'uid' | 'mode'>,
  user = process.geteuid?.(),
): string | undefined {
  if (user === undefined) return undefined;
  if (uid !== user && uid !== ROOT) {
    return `it belongs to another user (uid ${uid}). If you trust what is in it, make it yours (chown ${user} ${file})`;
  }
  const { bits, what, remedy } = TOO_MUCH[holds];
  const refused = uid === ROOT ? bits & ~GROUP_MAY_READ : bits;
  if ((mode & refused) === 0) return undefined;
  return `others than its owner may ${what}. Take that away (chmod ${remedy} ${file})`;
}
