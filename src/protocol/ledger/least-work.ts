/**
 * The minimum work of a block on each network. A header contains its own target, so anybody can make a branch of blocks
 * with easy targets. A branch is evidence only if its work is comparable with that of the network's real blocks.
 */

/** Matches the ids of networks whose nodes require no proof of work. All other networks are taken to require it. */
const WITHOUT_WORK = /^(?:(?:recap-|fast-)?development|test-.*)$/;

/**
 * Minimum difficulty on mainnet01. The lowest known difficulty since transfers became possible was 2^46.9 (block
 * 318,265 of chain 7, February 2020). The minimum is about an eighth of that. Later difficulties were 2^50 to 2^60. One
 * ASIC of 140 TH/s that mined all chains alone would keep the difficulty at 2^47.6.
 */
const MAINNET = 2n ** 44n;
/**
 * Minimum difficulty on testnets: about a sixteenth of the lowest known difficulty, 2^24.1 in March 2020. This minimum
 * proves little, because a processor computes 2^20 hashes in a second or less.
 */
const TESTNET = 2n ** 20n;

/** @returns whether blocks of the network need a proof of work */
export function hasWork(network: string): boolean {
  return !WITHOUT_WORK.test(network);
}

/** @returns the minimum difficulty of a block, in hashes on average; undefined except for mainnet01 and testnets */
export function leastWork(network: string): bigint | undefined {
  if (network === 'mainnet01') return MAINNET;
  return /^testnet0\d$/.test(network) ? TESTNET : undefined;
}
