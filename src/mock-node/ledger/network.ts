/** The networks that the mock can be, and their numbers in headers. */

import { type Graph, graphOf, knownGraph } from '../../ledger/graphs.ts';
import { versionCodeOf } from '../../ledger/header.ts';

export const networks = ['test-singleton', 'development', 'mainnet01', 'testnet04'] as const;
export type Network = (typeof networks)[number];

/** A number for networks whose own is not known; it is made up. */
const MADE_UP_CODE = 9;

/** @returns the number in the headers of the network */
export function codeOf(network: Network): number {
  return versionCodeOf(network) ?? MADE_UP_CODE;
}

/* The graph of the mock's chains: that of the known networks with as many chains, or one that is made up. */

/** Mining needs chains with three neighbours, because a miner's header has room for three adjacents. */
export const MINING_DEGREE = 3;

const LEAST = 4;
const MOST = 20;

/** Whether the mock can have this many chains: 1, 3, or an even number from 4 to 20. */
export function isNumberOfChains(chains: number): boolean {
  return knownGraph(chains) !== undefined || (chains % 2 === 0 && chains >= LEAST && chains <= MOST);
}

/**
 * @param chains a number for which `isNumberOfChains` holds
 * @returns for 1, 3, 10 and 20 chains, the graph of the known networks. For other numbers a made-up one in which each
 * chain's neighbours are the chain before it, the one after it, and the one opposite, in a circle of all chains
 */
export function graphFor(chains: number): Graph {
  return knownGraph(chains) ?? graphOf(Array.from({ length: chains }, (_, chain) => circleNeighbours(chain, chains)));
}

function circleNeighbours(chain: number, chains: number): number[] {
  return [1, chains / 2, chains - 1].map((step) => (chain + step) % chains);
}
