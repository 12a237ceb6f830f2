/**
 * Watches terminals, including those of SSH. Linux records when a terminal was last read, as after a key press; `w`
 * shows the same time as idle. No special rights are needed. The time is exact to 8 seconds (see the kernel's
 * `tty_update_time`).
 */

import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Accuracy of the times. A time further in the future is ignored: it was recorded before the clock was set back. */
const EXACT_MS = 8_000;
/** Maximum number of terminals that are watched. */
const MAX_TERMINALS = 1_024;

/** @param dev `/dev`, except in tests @returns undefined when the folder has no terminals */
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

/** Lists consoles and pseudo terminals. Serial lines are left out, because a device may send data on them. */
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

/** @returns milliseconds since the UNIX epoch; -∞ for a terminal that has just been closed */
async function lastReadMs(path: string): Promise<number> {
  return stat(path).then(
    ({ atimeMs }) => atimeMs,
    () => Number.NEGATIVE_INFINITY,
  );
}

/* The interface of all watches. */

export interface IdleWatch {
  /** The watched part of the system, for people: `terminals`. */
  readonly name: string;
  /** @param nowMs since the UNIX epoch @returns minimum time in ms since the last use; undefined when not known */
  idleMs(nowMs: number): Promise<number | undefined>;
}
