/** The work that is mined, as it is reported. */

import type { MinerEvent } from '../events/events.ts';

/** What is being mined. */
export interface WorkNow {
  readonly chain: number;
  readonly height: bigint;
  /** Hashes that a block takes on average. */
  readonly difficulty: number;
  /** Hashes that a share takes on average; absent for a node's work. */
  readonly shareDifficulty?: number;
  readonly sinceMs: number;
}

export function workNow(
  { chain, height, difficulty, shareDifficulty }: MinerEvent & { type: 'work' },
  sinceMs: number,
): WorkNow {
  return { chain, height, difficulty, ...(shareDifficulty !== undefined && { shareDifficulty }), sinceMs };
}
