/** Raises an alarm when a hashrate stays below what it should be, and clears it when it is back. */

import type { AlarmState } from '../events/vocabulary.ts';
import { rigState, supplyTrouble } from '../report/rig-state.ts';
import type { RunningMiner } from '../report/running-miner.ts';
import type { RigNow } from '../report/tally.ts';

/** The least hashrate that a device, or without one the rig, should make: H/s. */
export interface LeastRate {
  readonly device?: string;
  readonly limit: number;
}

/** Rates are averages over half a minute: looking more often would see little more. */
const LOOK_MS = 5_000;
/** A hashrate has to be back for this long: twice the time that it is an average over. */
const CLEAR_MS = 60_000;

/**
 * One rate against its limit. Raised after `afterMs` below it without a break; cleared after a minute, or `afterMs` where
 * that is shorter, at the limit or above.
 */
export class LowRate {
  readonly #limit: number;
  readonly #afterMs: number;
  #raised = false;
  /** Since when the rate has contradicted the alarm. */
  #sinceMs: number | undefined;

  constructor(limit: number, afterMs: number) {
    this.#limit = limit;
    this.#afterMs = afterMs;
  }

  /**
   * @param rate H/s; undefined while there is nothing to judge
   * @returns whether the alarm has just been raised or cleared
   */
  judge(rate: number | undefined, nowMs: number): AlarmState | undefined {
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
 * The rate to be compared with a limit, H/s. A device that is watched and does not exist makes 0.
 * @param device its name; absent, all devices count
 * @returns undefined while there is nothing to judge: there is no node, no work, or all that counts is paused
 */
function rateOf(device: string | undefined, now: RigNow): number | undefined {
  const devices = new Map([...now.devices].filter(([name]) => device === undefined || name === device));
  if (supplyTrouble(now) || rigState({ ...now, devices }).name === 'paused') return undefined;
  return [...devices.values()].reduce((sum, { hashesPerSecond }) => sum + hashesPerSecond, 0);
}

/** @returns a function that ends the watch */
export function watchHashrate(
  least: readonly LeastRate[],
  afterMs: number,
  { events, tally, clock }: Pick<RunningMiner, 'events' | 'tally' | 'clock'>,
): () => void {
  const watches = least.map(({ device, limit }) => ({ device, limit, low: new LowRate(limit, afterMs) }));
  const timer = setInterval(() => {
    const now = tally.now();
    for (const { device, limit, low } of watches) {
      const hashesPerSecond = rateOf(device, now);
      const state = low.judge(hashesPerSecond, clock.monotonicMs());
      if (!state || hashesPerSecond === undefined) continue;
      const about = { state, ...(device && { device }), hashesPerSecond, limitHashesPerSecond: limit };
      events.emit({ type: 'alarm', alarm: 'low-hashrate', ...about });
    }
  }, LOOK_MS);
  return () => clearInterval(timer);
}
