/**
 * Keeps a lower bound of a node's clock. Each answer of the node has the node's time in whole seconds
 * (`x-server-timestamp`). When the answer arrives, the node's clock shows at least that time. An estimate of the clock
 * is not enough, because the node drops a block whose creation time is ahead of the clock.
 */

import type { Clock } from '../../base/system/clock.ts';

const RESOLUTION_US = 1_000_000n;
/** Maximum rate at which a clock loses time while it is slewed, in µs per ms: 500 ppm, the limit of adjtimex. */
const DRIFT_PER_MS_US = 0.5;

/** Bounds, in µs, of the difference "local clock minus node's clock". */
export interface Skew {
  readonly leastUs: bigint;
  readonly mostUs: bigint;
}

export class NodeClock {
  readonly #clock: Clock;
  /**
   * The timestamp that gives the highest lower bound of the node's clock, and the monotonic time at which its answer
   * was received. The bound itself grows with the time since then (`#boundUs`).
   */
  #bound: { readonly us: bigint; readonly receivedAtMs: number } | undefined;
  #skew: Skew | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Notes the timestamp of an answer.
   * @param timestampS seconds since the UNIX epoch
   * @param askedAtMs monotonic time at which the request was sent
   */
  observe(timestampS: bigint, askedAtMs: number): void {
    const receivedAtMs = this.#clock.monotonicMs();
    const us = timestampS * 1_000_000n;
    const oursUs = this.#clock.nowUs();
    const tookUs = microseconds(receivedAtMs - askedAtMs);
    this.#skew = { leastUs: oursUs - tookUs - us - RESOLUTION_US, mostUs: oursUs - us };
    const known = this.#boundUs(receivedAtMs);
    const latestPossibleUs = us + RESOLUTION_US + tookUs;
    // If the known bound is above the latest time that this answer allows, the node's clock was set back, and the known
    // bound is no longer valid.
    if (known === undefined || us >= known || known > latestPossibleUs) this.#bound = { us, receivedAtMs };
  }

  /**
   * The local clock minus the node's clock, to be shown to people. Creation times follow from `latestTimeUs` instead.
   * Undefined before the first answer.
   */
  get skew(): Skew | undefined {
    return this.#skew;
  }

  /**
   * @returns the lower of two times: the local clock, and the lower bound of the node's clock; in µs since the UNIX
   *   epoch. 0 before the first answer
   */
  latestTimeUs(): bigint {
    const bound = this.#boundUs(this.#clock.monotonicMs()) ?? 0n;
    const ours = this.#clock.nowUs();
    return ours < bound ? ours : bound;
  }

  /**
   * @param timeUs µs since the UNIX epoch
   * @returns the time until the node's clock has surely reached `timeUs`, in ms; 0 if it has, and before the first
   *   answer
   */
  untilMs(timeUs: bigint): number {
    const bound = this.#boundUs(this.#clock.monotonicMs());
    return bound === undefined || bound >= timeUs ? 0 : Number(timeUs - bound) / 1000;
  }

  #boundUs(nowMs: number): bigint | undefined {
    if (!this.#bound) return undefined;
    const elapsedMs = nowMs - this.#bound.receivedAtMs;
    return this.#bound.us + microseconds(elapsedMs) - BigInt(Math.ceil(elapsedMs * DRIFT_PER_MS_US));
  }
}

function microseconds(ms: number): bigint {
  return BigInt(Math.floor(ms * 1000));
}
