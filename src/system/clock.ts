/** Time as the rest of the code gets it: through a constructor, so that tests can bring their own. */

export interface Clock {
  /** Wall clock: microseconds since the UNIX epoch. It can jump. */
  nowUs(): bigint;
  /** Never jumps; only differences mean anything. The system's is one clock for all processes and threads. */
  monotonicMs(): number;
}

/** Wall clock: milliseconds since the UNIX epoch. */
export function wallMs(clock: Clock): number {
  return Number(clock.nowUs() / 1000n);
}

export const systemClock: Clock = {
  nowUs: () => BigInt(Date.now()) * 1000n,
  monotonicMs: () => Number(process.hrtime.bigint() / 1000n) / 1000,
};
