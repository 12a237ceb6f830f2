/** Raises an alarm when a hashrate stays below what it should be, and clears it when it is back. */

import type { Events } from '../events/events.ts';
import type { RigNow, Tally } from '../report/tally.ts';
import type { Clock } from '../system/clock.ts';

/** What a device, or without one the rig, should make at least: H/s. */
export interface LeastRate {
  readonly device?: string;
  readonly limit: number;
}

/** The rate is an average over half a minute: looking more often would see little more. */
const LOOK_MS = 5_000;
/** A hashrate that is back for this long is back: twice what it is an average over. */
const CLEAR_MS = 60_000;

/**
 * One rate against its limit. Raised after `afterMs` below it without a break; cleared after a minute, or `afterMs` where
 * that is shorter, at the limit or above.
 */
export class LowRate {
  readonly #limit: number;
  readonly #afterMs: number;
  #raised = false;
  /** Since when the rate has been on the other side of the limit than the alarm is. */
  #sinceMs: number | undefined;

  constructor(limit: number, afterMs: number) {
    this.#limit = limit;
    this.#afterMs = afterMs;
  }

  /**
   * @param rate H/s; undefined while it says nothing, as at rest
   * @returns what has come of it, if anything has
   */
  judge(rate: number | undefined, nowMs: number): 'raised' | 'cleared' | undefined {
    if (rate === undefined || rate < this.#limit === this.#raised) {
      this.#sinceMs = undefined;
      return undefined;
    }
    this.#sinceMs ??= nowMs;
    const waitMs = this.#raised ? Math.min(CLEAR_MS, this.#afterMs) : this.#afterMs;
    if (nowMs - this.#sinceMs < waitMs) return undefined;
    this.#sinceMs = undefined;
    this.#raised = !this.#raised;
    return this.#raised ? 'raised' : 'cleared';
  }
}

/**
 * The rate that counts against a limit, H/s. A device that is asked for and never came makes nothing.
 * @returns undefined while there is nothing to judge: it rests, or no node is there
 */
export function rateOf(device: string | undefined, { work, sources, devices }: RigNow): number | undefined {
  if (!work || ![...sources.values()].some(({ state }) => state === 'connected')) return undefined;
  const counted = [...devices].filter(([name]) => device === undefined || name === device).map(([, now]) => now);
  const working = counted.filter(({ state }) => state !== 'parked');
  if (working.length > 0 && working.every(({ state }) => state === 'paused')) return undefined;
  return counted.reduce((sum, { hashrate }) => sum + hashrate, 0);
}

/** @returns what ends it */
export function watchHashrate(
  least: readonly LeastRate[],
  afterMs: number,
  { events, tally, clock }: { events: Events; tally: Tally; clock: Clock },
): () => void {
  const watches = least.map(({ device, limit }) => ({ device, limit, low: new LowRate(limit, afterMs) }));
  const timer = setInterval(() => {
    const now = tally.now();
    for (const { device, limit, low } of watches) {
      const value = rateOf(device, now);
      const state = low.judge(value, clock.monotonicMs());
      if (!state || value === undefined) continue;
      events.emit({ event: 'alarm', alarm: 'low_hashrate', state, ...(device && { device }), value, limit });
    }
  }, LOOK_MS);
  return () => clearInterval(timer);
}
