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

export const systemClock: Clock = {
  nowUs: () => BigInt(Date.now()) * 1000n,
  monotonicMs: () => Number(process.hrtime.bigint() / 1000n) / 1000,
};
