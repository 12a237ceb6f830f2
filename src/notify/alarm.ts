/** Raises an alarm when a hashrate stays too low, and clears it when the hashrate is back. */

import type { AlarmState } from '../events/vocabulary.ts';
import { livesOnRelays } from '../report/figures.ts';
import type { RigNow } from '../report/rig.ts';
import { rigState, supplyTrouble } from '../report/rig-state.ts';
import type { RunningMiner } from '../report/running-miner.ts';

/** The minimum hashrate of a device, or of the whole rig when no device is named. */
export interface LeastRate {
  readonly device?: string;
  /** H/s */
  readonly limit: number;
}

/** The time between looks. Hashrates are averages over half a minute, so more frequent looks would show little more. */
const LOOK_MS = 5_000;
/** An alarm is cleared when the hashrate has been back for this long: twice the time that it is averaged over. */
const CLEAR_MS = 60_000;

/**
 * Compares a hashrate with its limit. The alarm is raised when the rate has been below the limit for `afterMs` without
 * a break. It is cleared after a minute, or after `afterMs` if that is shorter, at or above the limit.
 */
export class LowRate {
  readonly #limit: number;
  readonly #afterMs: number;
  #raised = false;
  /** Since when the rate has contradicted the alarm's state. */
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
 * @param device a device's name; undefined for the whole rig. A device that does not exist has a rate of 0
 * @returns the rate to compare with the limit, in H/s; undefined while there is nothing to judge, because there is no
 *   source or no work, because the devices are paused, or because the rig has none and only hands work on
 */
function rateOf(device: string | undefined, now: RigNow): number | undefined {
  if (livesOnRelays(now)) return undefined;
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
