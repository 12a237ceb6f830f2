/**
 * Terminals, those of SSH too: Linux notes when one was last read from, which is when a key was pressed. It is what `w`
 * shows as idle, needs no rights, and is exact to 8 seconds (the kernel's `tty_update_time`).
 */

import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { IdleWatch } from './watch.ts';

/** How exact the times are. One that is further ahead of now is from before the clock was set back: it says nothing. */
const EXACT_MS = 8_000;
/** More terminals than this are not looked at. */
const MAX_TERMINALS = 1_024;

/**
 * @param dev `/dev`, but in tests
 * @returns undefined where there is no such folder
 */
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

/** Consoles and pseudo terminals, no serial lines: a device may talk on those. */
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

/** One that was closed meanwhile was never read. */
async function lastReadMs(path: string): Promise<number> {
  return stat(path).then(
    ({ atimeMs }) => atimeMs,
    () => Number.NEGATIVE_INFINITY,
  );
}
