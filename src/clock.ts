/** Time as the rest of the code gets it: through a constructor, so that tests can bring their own. */

import { performance } from 'node:perf_hooks';

export interface Clock {
  /** Wall clock: microseconds since the UNIX epoch. It can jump. */
  nowUs(): bigint;
  /** Never jumps; only differences mean anything. */
  monotonicMs(): number;
}

export const systemClock: Clock = {
  nowUs: () => BigInt(Date.now()) * 1000n,
  monotonicMs: () => performance.now(),
};
