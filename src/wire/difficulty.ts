/**
 * The difficulty that stratum's words mean: in a worker's password (`d=…`) and in `mining.suggest_difficulty`. Everywhere else in
 * pickaxe, a difficulty is the number of hashes that a solution takes on average. Pure.
 */

/**
 * How many hashes a share of difficulty 1 takes on average: as in Bitcoin, where these words come from, so the target is
 * 2^224 − 1. This network's own messages name targets (`mining.set_target`) and need no such unit.
 */
export const HASHES_AT_DIFFICULTY_1 = 2 ** 32;

/** A target has 256 bits, so no share takes more hashes. */
const MOST_HASHES = 2 ** 255;

/**
 * @param difficulty as it stands in a message or a password, such as 0.05 or `65536`; it may be below 1
 * @returns hashes per share, at least 1; undefined when it is no difficulty
 */
export function hashesOfDifficulty(difficulty: unknown): number | undefined {
  const isNumber = typeof difficulty === 'number' || (typeof difficulty === 'string' && NUMBER.test(difficulty));
  const hashes = isNumber ? Number(difficulty) * HASHES_AT_DIFFICULTY_1 : 0;
  return hashes > 0 && hashes <= MOST_HASHES ? Math.max(1, hashes) : undefined;
}

const NUMBER = /^\d{1,20}(\.\d{1,20})?(e[+-]?\d{1,2})?$/i;

/** @returns the difficulty as stratum's words mean it */
export function difficultyOfHashes(hashes: number): number {
  return hashes / HASHES_AT_DIFFICULTY_1;
}
