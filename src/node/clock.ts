/**
 * What is surely known about the node's clock. Its answers carry `x-server-timestamp`, in whole seconds. When an answer
 * arrives, the node's clock is at that second or past it, and goes on from there. Only such lower bounds are used, never
 * an estimate, because a creation time ahead of the node's clock costs the block.
 */

import type { Clock } from '../system/clock.ts';

/** The timestamp is cut to whole seconds. */
const RESOLUTION_US = 1_000_000n;
/** A clock that is being slewed runs at most this much slower than ours: 500 ppm, the limit of adjtimex. */
const DRIFT_PER_MS_US = 0.5;

/** How far our clock is ahead of the node's: surely between these two, in µs. A negative value means that it is behind. */
export interface Skew {
  readonly leastUs: bigint;
  readonly mostUs: bigint;
}

export class NodeClock {
  readonly #clock: Clock;
  /** The highest bound: its value, and the monotonic time at which it was received. */
  #bound: { readonly us: bigint; readonly receivedAtMs: number } | undefined;
  #skew: Skew | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Takes the timestamp of an answer that has just arrived.
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
    // A bound that the answer contradicts is from before the node's clock was set back, so it does not hold any more.
    if (known === undefined || us >= known || known > latestPossibleUs) this.#bound = { us, receivedAtMs };
  }

  /** As of the last answer; undefined before the first. It is only for people: creation times are not made from it. */
  get skew(): Skew | undefined {
    return this.#skew;
  }

  /** The lower of our clock and the node's bound, in µs since the UNIX epoch; 0 before the first answer. */
  latestTimeUs(): bigint {
    const bound = this.#boundUs(this.#clock.monotonicMs()) ?? 0n;
    const ours = this.#clock.nowUs();
    return ours < bound ? ours : bound;
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
