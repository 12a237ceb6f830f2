/** How many threads hash. */

import { availableParallelism } from 'node:os';

/** Far above any machine: a typing error must not start a million threads. */
const MAX_THREADS = 1024;

/** Machines with more hardware threads than this keep one of them free. */
const USE_ALL_UP_TO = 2;

export interface ThreadChoice {
  readonly threads: number;
  /** For people: why this many. */
  readonly why: string;
}

/**
 * @param wanted how many, or undefined for as many as leave the machine usable
 * @throws RangeError unless it is a whole number from 1 to MAX_THREADS.
 */
export function chooseThreads(wanted?: number, available = availableParallelism()): ThreadChoice {
  if (wanted !== undefined) {
    if (!Number.isInteger(wanted) || wanted < 1 || wanted > MAX_THREADS) {
      throw new RangeError(`the number of CPU threads is a whole number from 1 to ${MAX_THREADS}, not ${wanted}`);
    }
    return { threads: wanted, why: 'asked for' };
  }
  if (available <= USE_ALL_UP_TO) return { threads: available, why: `all ${available} of this machine` };
  return { threads: available - 1, why: `one of this machine's ${available} is left free` };
}
