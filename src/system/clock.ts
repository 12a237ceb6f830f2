/** The clock. All code gets it through a constructor, so that tests can use their own. */

export interface Clock {
  /** The wall clock: microseconds since the UNIX epoch. It can jump. */
  nowUs(): bigint;
  /**
   * A clock that never jumps. Only differences have a meaning. The system's clock is the same in all processes and
   * threads.
   */
  monotonicMs(): number;
}

/** The wall clock: milliseconds since the UNIX epoch. */
export function wallMs(clock: Clock): number {
  return Number(clock.nowUs() / 1000n);
}

/** The last time that `nowUs` returned. */
let lastUs = 0n;

export const systemClock: Clock = {
  /**
   * The system counts milliseconds. Each call within one gets its own microsecond, so that later events have later
   * times: otherwise a block could be as old as its parent.
   */
  nowUs: () => {
    const nowUs = BigInt(Date.now()) * 1000n;
    const isSameMs = lastUs >= nowUs && lastUs < nowUs + 1000n;
    if (!isSameMs) lastUs = nowUs;
    else if (lastUs < nowUs + 999n) lastUs += 1n;
    return lastUs;
  },
  monotonicMs: () => Number(process.hrtime.bigint() / 1000n) / 1000,
};
