// Records when a miner had which work, and computes for how long its work was stale.

import { systemClock } from '#pickaxe/base/system/clock.js';

/** @returns milliseconds of the clock that all processes of a machine share */
export const nowMs = systemClock.monotonicMs;

/** Keeps items in order, each with the time at which it happened, and lets callers wait for more. */
export class TimedRecords {
  all = [];
  #listeners = new Set();

  add(item) {
    this.all.push(item);
    for (const listen of this.#listeners) listen(item);
  }

  /** @returns a function that removes the listener */
  on(listen) {
    this.#listeners.add(listen);
    return () => this.#listeners.delete(listen);
  }

  /**
   * Waits for the first wanted item that happened at `sinceMs` or later.
   * @returns the item; undefined when none came within `withinMs`
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

/** @returns the seconds from a moment to the first wanted turn, or to the end of the wait when there was none */
export async function secondsTo(turns, wanted, sinceMs, waitMs) {
  const turn = await turns.first(wanted, sinceMs, waitMs);
  return ((turn?.atMs ?? nowMs()) - sinceMs) / 1000;
}

/**
 * Computes how long work was mined between two moments, and how long it was stale.
 * @param turns the miner's turns in order: `work` from `atMs` on, or nothing when `work` is undefined
 * @param staleFromMs returns when a work's parent ceased to be the tip of its chain; Infinity while it is the tip
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
