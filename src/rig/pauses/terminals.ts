/**
 * Measures for how long terminals have been idle, including those of SSH sessions. Linux records when a terminal was
 * last read, as after a key press, and the command `w` computes its idle times from this record. The record is exact to
 * 8 seconds (see the kernel's `tty_update_time`). No special rights are needed.
 */

import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * The recorded times are exact to this many ms. A recorded time that lies further in the future is ignored, because it
 * was recorded before the clock was set back.
 */
const EXACT_MS = 8_000;
/** Maximum number of terminals that are watched. */
const MAX_TERMINALS = 1_024;

/** @param dev `/dev`, except in tests @returns the watch of all terminals; undefined if they cannot be listed */
export async function watchTerminals(dev: string): Promise<IdleWatch | undefined> {
  if ((await terminals(dev)) === undefined) return undefined;
  return {
    name: 'terminals',
    idleMs: async (nowMs) => {
      const paths = (await terminals(dev)) ?? [];
      const idles = await Promise.all(paths.map(async (path) => nowMs - (await lastReadMs(path))));
      const known = idles.filter((idleMs) => idleMs >= -EXACT_MS);
      return known.length > 0 ? Math.max(0, Math.min(...known)) : Number.POSITIVE_INFINITY;
    },
  };
}

/**
 * @returns the paths of consoles and pseudo terminals; undefined if neither can be listed. Serial lines are left out,
 *   because devices may send data on them
 */
async function terminals(dev: string): Promise<string[] | undefined> {
  const consoles = await names(dev, /^tty\d+$/);
  const pseudo = await names(join(dev, 'pts'), /^\d+$/);
  if (!consoles && !pseudo) return undefined;
  return [...(consoles ?? []), ...(pseudo ?? [])].slice(0, MAX_TERMINALS);
}

async function names(folder: string, pattern: RegExp): Promise<string[] | undefined> {
  const all = await readdir(folder).catch(() => undefined);
  return all?.filter((name) => pattern.test(name)).map((name) => join(folder, name));
}

/** @returns the time of the last read in ms since the UNIX epoch; -∞ for a terminal that has just been closed */
async function lastReadMs(path: string): Promise<number> {
  return stat(path).then(
    ({ atimeMs }) => atimeMs,
    () => Number.NEGATIVE_INFINITY,
  );
}

/* The interface of a watch. */

export interface IdleWatch {
  /** Name of the watched part of the system, for people, such as `terminals`. */
  readonly name: string;
  /**
   * @param nowMs present time, in ms since the UNIX epoch
   * @returns time in ms since this part of the system was last used; infinite if there is nothing to watch, for example
   *   because no terminal is open; undefined if it is not known
   */
  idleMs(nowMs: number): Promise<number | undefined>;
}
