/** Whether measurements and configuration can be saved. */

import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Finding } from './finding.ts';

/** @param isWritable whether the nearest folder that exists can be written to */
export function examineCacheFolder(folder: string | undefined, isWritable = isFolderWritable): Finding {
  const about = 'cache';
  const why = 'kernels are measured again at each start: a second for the CPU, and a few seconds for each GPU';
  if (folder === undefined) {
    const mend = 'set XDG_CACHE_HOME to a folder that this user can write to';
    return { about, state: 'warning', what: 'this user has no home directory', why, mend };
  }
  if (isWritable(folder)) return { about, state: 'ok', what: `${folder} can be written to` };
  const what = `${folder} cannot be written to`;
  return { about, state: 'warning', what, why, mend: 'make it writable, or set XDG_CACHE_HOME' };
}

/** @param files the configuration files that were read */
export function examineConfigFolder(
  folder: string | undefined,
  files: readonly string[],
  isWritable = isFolderWritable,
): Finding {
  const about = 'configuration';
  if (files.length > 0) return { about, state: 'ok', what: files.join(', ') };
  if (folder !== undefined && isWritable(folder))
    return { about, state: 'ok', what: 'no file yet; pickaxe init writes one' };
  const what =
    folder === undefined
      ? 'no file, and this user has no home directory'
      : `no file, and ${folder} cannot be written to`;
  const why = 'pickaxe init --user cannot write its file';
  return {
    about,
    state: 'warning',
    what,
    why,
    mend: 'use pickaxe init without --user: it writes to the current folder',
  };
}

export function isFolderWritable(folder: string): boolean {
  if (!existsSync(folder)) return folder !== dirname(folder) && isFolderWritable(dirname(folder));
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    return statSync(folder).isDirectory();
  } catch {
    return false;
  }
}
