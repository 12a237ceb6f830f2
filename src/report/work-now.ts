/** The work that is mined, as it is reported. */

import type { MinerEvent } from '../events/events.ts';

/** What is being mined. */
export interface WorkNow {
  readonly chain: number;
  readonly height: bigint;
  /** The number by which the header names its network; absent when that is not known. */
  readonly networkCode?: number;
  /** Hashes that a block takes on average. */
  readonly difficulty: number;
  /** Hashes that a share takes on average; absent for a node's work. */
  readonly shareDifficulty?: number;
  readonly sinceMs: number;
}

export function workNow(
  { chain, height, networkCode, difficulty, shareDifficulty }: MinerEvent & { type: 'work' },
  sinceMs: number,
): WorkNow {
  const network = networkCode !== undefined && { networkCode };
  const share = shareDifficulty !== undefined && { shareDifficulty };
  return { chain, height, ...network, difficulty, ...share, sinceMs };
}
