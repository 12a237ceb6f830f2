/** The books: what happened since the start, and each device's hashrate. Filled from events only. */

import type { Clock } from '../clock.ts';
import type { MinerEvent } from '../events/events.ts';

/** Hashrates are averages over this long: long enough for a steady figure, short enough to show a fault. */
const WINDOW_MS = 30_000;
/** Hash counts are kept in steps of this length. */
const STEP_MS = 500;

export interface Summary {
  readonly accepted: number;
  readonly rejected: number;
  readonly stale: number;
  /** Solutions whose answer was lost. */
  readonly unknown: number;
  readonly hardware_errors: number;
  /** All nonces searched. */
  readonly hashes: number;
  readonly seconds: number;
  /** Average over the whole run, H/s. */
  readonly hashrate: number;
}

class Meter {
  total = 0;
  /** `[end of step, hashes in it]`, oldest first. */
  readonly #steps: [number, number][] = [];

  add(hashes: number, nowMs: number): void {
    this.total += hashes;
    const last = this.#steps.at(-1);
    if (last && nowMs < last[0]) last[1] += hashes;
    else this.#steps.push([nowMs + STEP_MS, hashes]);
    while (this.#steps[0][0] < nowMs - WINDOW_MS) this.#steps.shift();
  }

  /** H/s over the window, or since the start while that is shorter. */
  rate(nowMs: number, startMs: number): number {
    const from = Math.max(startMs, nowMs - WINDOW_MS);
    const hashes = this.#steps.reduce((sum, [endMs, count]) => (endMs > from ? sum + count : sum), 0);
    return nowMs > from ? (1000 * hashes) / (nowMs - from) : 0;
  }
}

export class Tally {
  readonly #clock: Clock;
  readonly #startMs: number;
  readonly #meters = new Map<string, { meter: Meter; sinceMs: number }>();
  readonly #verdicts = { accepted: 0, rejected: 0, stale: 0, unknown: 0 };
  #hardwareErrors = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#startMs = clock.monotonicMs();
  }

  readonly listen = (event: MinerEvent): void => {
    if (event.event === 'hashes') this.#meterOf(event.device).meter.add(event.hashes, this.#clock.monotonicMs());
    else if (event.event === 'verdict') this.#verdicts[event.verdict]++;
    else if (event.event === 'hardware_error') this.#hardwareErrors++;
    else if (event.event === 'device' && event.state === 'ready') this.#meterOf(event.device);
  };

  get accepted(): number {
    return this.#verdicts.accepted;
  }

  /** H/s of each device that came into service. */
  hashrates(): Map<string, number> {
    const nowMs = this.#clock.monotonicMs();
    return new Map([...this.#meters].map(([device, { meter, sinceMs }]) => [device, meter.rate(nowMs, sinceMs)]));
  }

  summary(): Summary {
    const seconds = (this.#clock.monotonicMs() - this.#startMs) / 1000;
    const hashes = [...this.#meters.values()].reduce((sum, { meter }) => sum + meter.total, 0);
    return {
      ...this.#verdicts,
      hardware_errors: this.#hardwareErrors,
      hashes,
      seconds,
      hashrate: seconds > 0 ? hashes / seconds : 0,
    };
  }

  #meterOf(device: string): { meter: Meter; sinceMs: number } {
    let entry = this.#meters.get(device);
    if (!entry) {
      entry = { meter: new Meter(), sinceMs: this.#clock.monotonicMs() };
      this.#meters.set(device, entry);
    }
    return entry;
  }
}
