/**
 * The least work of the blocks of a network. A header contains its own target, so a branch of blocks proves only the
 * work that was put into it. This is evidence only if it is comparable with the work of the network's real blocks.
 */

/** Networks whose nodes require no proof of work. The coins of every other network may have a value. */
const WITHOUT_WORK = /^(?:(?:recap-|fast-)?development|test-.*)$/;

/**
 * An eighth of the lowest known difficulty since mainnet01 has had transfers: 2^46.9 in February 2020 (block 318,265 of
 * chain 7). Later ones were 2^50 to 2^60. One ASIC of 140 TH/s that mined all chains alone would keep the difficulty at
 * 2^47.6.
 */
const MAINNET = 2n ** 44n;
/** A sixteenth of the lowest known difficulty: 2^24.1 in March 2020. A processor does this work in a second. */
const TESTNET = 2n ** 20n;

/** Whether blocks of a network need a proof of work. */
export function hasWork(network: string): boolean {
  return !WITHOUT_WORK.test(network);
}

/** @returns the least number of hashes of a block, on average; undefined for networks that pickaxe does not know */
export function leastWork(network: string): bigint | undefined {
  if (network === 'mainnet01') return MAINNET;
  return /^testnet0\d$/.test(network) ? TESTNET : undefined;
}
