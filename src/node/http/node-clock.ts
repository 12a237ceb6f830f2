/**
 * A sure lower bound of the node's clock, from the header `x-server-timestamp` of its answers, in whole seconds. When
 * an answer arrives, the node's clock has reached at least that second. An estimate would not be enough, because a
 * block with a creation time ahead of the node's clock is lost.
 */

import type { Clock } from '../../base/system/clock.ts';

const RESOLUTION_US = 1_000_000n;
/** Maximum slowness of a clock while it is slewed: 500 ppm, the limit of adjtimex. */
const DRIFT_PER_MS_US = 0.5;

/** Bounds, in µs, of the local clock minus the node's. */
export interface Skew {
  readonly leastUs: bigint;
  readonly mostUs: bigint;
}

export class NodeClock {
  readonly #clock: Clock;
  /** The highest lower bound, and the monotonic time at which it was received. */
  #bound: { readonly us: bigint; readonly receivedAtMs: number } | undefined;
  #skew: Skew | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @param timestampS seconds since the UNIX epoch @param askedAtMs monotonic time at which the request was sent */
  observe(timestampS: bigint, askedAtMs: number): void {
    const receivedAtMs = this.#clock.monotonicMs();
    const us = timestampS * 1_000_000n;
    const oursUs = this.#clock.nowUs();
    const tookUs = microseconds(receivedAtMs - askedAtMs);
    this.#skew = { leastUs: oursUs - tookUs - us - RESOLUTION_US, mostUs: oursUs - us };
    const known = this.#boundUs(receivedAtMs);
    const latestPossibleUs = us + RESOLUTION_US + tookUs;
    // If the answer contradicts the known bound, the node's clock was set back, and the old bound is no longer valid.
    if (known === undefined || us >= known || known > latestPossibleUs) this.#bound = { us, receivedAtMs };
  }

  /** The skew, for people, not for creation times; undefined before the first answer. */
  get skew(): Skew | undefined {
    return this.#skew;
  }

  /** @returns the lower of the local clock and the bound, in µs since the UNIX epoch; 0 before the first answer */
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
