/** Says in plain words why a file cannot be read. */

import { lstatSync } from 'node:fs';

/**
 * @param fault what reading the file threw
 * @param path the file's path
 * @returns a clause such as `there is no such file`
 */
export function whyUnreadable({ code, message }: NodeJS.ErrnoException, path: string): string {
  if (code === 'ENOENT') return exists(path) ? 'it is a link to a file that does not exist' : 'there is no such file';
  if (code === 'EACCES') return 'this user may not read it';
  if (code === 'ELOOP') return 'it is a link that leads to itself';
  if (code === 'EISDIR') return 'it is a directory';
  return `the system says ${message}`;
}

/** Whether there is anything at the path, even a link whose target does not exist. */
function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
