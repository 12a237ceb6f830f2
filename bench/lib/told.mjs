// When a miner was on which work, and how much of that time its work was stale.

import { systemClock } from '#pickaxe/system/clock.js';

/** Milliseconds of the clock that all processes of a machine share. */
export const nowMs = systemClock.monotonicMs;

/** What was told so far, in order, and a way to wait for more. Each has the time at which it happened. */
export class Told {
  all = [];
  #listeners = new Set();

  add(item) {
    this.all.push(item);
    for (const listen of this.#listeners) listen(item);
  }

  /** @returns what ends it */
  on(listen) {
    this.#listeners.add(listen);
    return () => this.#listeners.delete(listen);
  }

  /**
   * Waits for the first that happened at `sinceMs` or later and is as wanted.
   * @returns it; undefined when none came within `withinMs` of now
   */
  async first(wanted, sinceMs, withinMs) {
    const matches = (item) => item.atMs >= sinceMs && wanted(item);
    const past = this.all.find(matches);
    if (past) return past;
    return await new Promise((resolve) => {
      const done = (item) => {
        clearTimeout(timer);
        off();
        resolve(item);
      };
      const off = this.on((item) => matches(item) && done(item));
      const timer = setTimeout(() => done(undefined), withinMs);
    });
  }
}

/** Seconds from a moment to the first turn that is as wanted; to the end of the wait, when there was none. */
export async function secondsTo(turns, wanted, sinceMs, waitMs) {
  const turn = await turns.first(wanted, sinceMs, waitMs);
  return ((turn?.atMs ?? nowMs()) - sinceMs) / 1000;
}

/**
 * What was mined between two moments.
 * @param turns what the miner was on, in order: `work` from `atMs` on, nothing where `work` is undefined
 * @param staleFromMs when the parent of a work ceased to be the tip of its chain; Infinity while it is
 * @returns milliseconds
 */
export function mined(turns, staleFromMs, fromMs, toMs) {
  const total = { minedMs: 0, staleMs: 0 };
  for (const [i, { work, atMs }] of turns.entries()) {
    const from = Math.max(atMs, fromMs);
    const to = Math.min(turns[i + 1]?.atMs ?? toMs, toMs);
    if (!work || to <= from) continue;
    total.minedMs += to - from;
    total.staleMs += Math.max(0, to - Math.max(from, staleFromMs(work)));
  }
  return total;
}
