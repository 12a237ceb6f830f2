/**
 * How much work the blocks of a network take. A header names its own target, so a branch of blocks proves no more than
 * the work that was put into it, and that is worth something only beside the work of the network's real blocks.
 */

/** Networks whose nodes demand no proof of work. Every other network may have coins that are worth something. */
const WITHOUT_WORK = /^(?:(?:recap-|fast-)?development|test-.*)$/;

/**
 * An eighth of the least difficulty that is known since mainnet01 has had transfers: 2^46.9 in February 2020 (block
 * 318,265 of chain 7). Later ones had 2^50 to 2^60. One ASIC of 140 TH/s that mined all chains alone would keep the
 * difficulty at 2^47.6.
 */
const MAINNET = 2n ** 44n;
/** A sixteenth of the least difficulty that is known: 2^24.1 in March 2020. A processor computes it in a second. */
const TESTNET = 2n ** 20n;

/** Whether blocks without proof of work are wrong on a network. */
export function hasWork(network: string): boolean {
  return !WITHOUT_WORK.test(network);
}

/** @returns hashes that a block takes at least, on average; undefined for networks that pickaxe does not know */
export function leastWork(network: string): bigint | undefined {
  if (network === 'mainnet01') return MAINNET;
  return /^testnet0\d$/.test(network) ? TESTNET : undefined;
}
