/**
 * Chain graphs. The parents of a block are one height below it, on its own chain and on the neighbouring chains. Which
 * chains are neighbours is determined by the graph at the parents' height.
 */

import type { BlockHeader } from './header.ts';
import { LedgerFormatError } from './json.ts';

/** The neighbours of each chain, in ascending order. The index is the number of the chain. */
export type Graph = readonly (readonly number[])[];

export interface GraphSpan {
  /** The lowest height of the graph. Blocks one height higher are the first whose parents the graph determines. */
  readonly fromHeight: bigint;
  readonly graph: Graph;
}

/** The graphs of known networks, with 1, 3, 10 (the Petersen graph) and 20 chains. */
const KNOWN: readonly Graph[] = [
  [[]],
  [
    [1, 2],
    [0, 2],
    [0, 1],
  ],
  [
    [2, 3, 5],
    [3, 4, 6],
    [0, 4, 7],
    [0, 1, 8],
    [1, 2, 9],
    [0, 6, 9],
    [1, 5, 7],
    [2, 6, 8],
    [3, 7, 9],
    [4, 5, 8],
  ],
  [
    [5, 10, 15],
    [6, 11, 16],
    [7, 12, 17],
    [8, 13, 18],
    [9, 14, 19],
    [0, 7, 8],
    [1, 8, 9],
    [2, 5, 9],
    [3, 5, 6],
    [4, 6, 7],
    [0, 11, 19],
    [1, 10, 12],
    [2, 11, 13],
    [3, 12, 14],
    [4, 13, 15],
    [0, 14, 16],
    [1, 15, 17],
    [2, 16, 18],
    [3, 17, 19],
    [4, 10, 18],
  ],
];

/** The first height at which each network has 20 chains. Below this height, the network has 10 chains. */
const TWENTY_CHAINS_FROM: ReadonlyMap<string, bigint> = new Map([
  ['mainnet01', 852_054n],
  ['testnet04', 332_604n],
]);

/** @returns the graph with this number of chains; undefined for numbers other than 1, 3, 10 and 20 */
export function knownGraph(chains: number): Graph | undefined {
  return KNOWN.find((graph) => graph.length === chains);
}

/** @param history newest graph first @returns the graph at this height; undefined below the oldest graph */
export function graphAt(history: readonly GraphSpan[], height: bigint): Graph | undefined {
  return history.find(({ fromHeight }) => fromHeight <= height)?.graph;
}

/**
 * @returns the number of chains of mainnet01 or testnet04 at this height; undefined for other networks. The cut of
 *   another network shows its number of chains
 */
export function chainsAt(network: string, height: bigint): number | undefined {
  const from = TWENTY_CHAINS_FROM.get(network);
  return from === undefined ? undefined : height < from ? 10 : 20;
}

/** @returns the graphs of mainnet01 or testnet04, newest first; undefined for other networks */
export function graphsOfNetwork(network: string): readonly GraphSpan[] | undefined {
  const from = TWENTY_CHAINS_FROM.get(network);
  if (from === undefined) return undefined;
  return [
    { fromHeight: from, graph: knownGraph(20)! },
    { fromHeight: 0n, graph: knownGraph(10)! },
  ];
}

export function onlyGraph(graph: Graph): readonly GraphSpan[] {
  return [{ fromHeight: 0n, graph }];
}

/**
 * @param neighbours the neighbours of each chain, in any order. The index is the number of the chain
 * @throws LedgerFormatError if there is no chain, if a chain is its own neighbour, if a chain has the same neighbour
 *   twice, if chain A has the neighbour B but B does not have the neighbour A, or if two chains have no path between
 *   them
 */
export function graphOf(neighbours: readonly (readonly number[])[]): Graph {
  if (neighbours.length === 0) throw new LedgerFormatError('A graph has at least one chain');
  const graph = neighbours.map((each) => [...each].sort((a, b) => a - b));
  graph.forEach((each, chain) => {
    const wrong = each.find((other, i) => other === chain || other === each[i - 1] || !graph[other]?.includes(chain));
    if (wrong !== undefined) throw new LedgerFormatError(`Chain ${wrong} cannot be a neighbour of chain ${chain}`);
  });
  const unreached = distancesFrom(graph, 0).indexOf(undefined);
  if (unreached >= 0) throw new LedgerFormatError(`No path leads from chain 0 to chain ${unreached}`);
  return graph;
}

/**
 * @returns the number n of steps from one chain to the other. A block of one chain depends on the block of the other
 *   chain that is n heights lower
 * @throws RangeError for a chain that the graph does not have
 */
export function distance(graph: Graph, from: number, to: number): number {
  const steps = distancesFrom(graph, from)[to];
  if (steps === undefined) throw new RangeError(`the graph has no chain ${from} or no chain ${to}`);
  return steps;
}

/**
 * @returns the greatest distance n of two chains. A block that is n heights below all tips is an ancestor of each tip
 */
export function diameter(graph: Graph): number {
  return Math.max(...graph.flatMap((_, chain) => distancesFrom(graph, chain).map((steps) => steps ?? 0)));
}

/**
 * @returns the known graph in which the adjacents are on the neighbouring chains of the header's chain; undefined if
 *   there is no such graph
 */
export function graphOfHeader({ chain, adjacents }: BlockHeader): Graph | undefined {
  return KNOWN.find((graph) => sameChains(graph[chain], adjacents));
}

/**
 * Checks the chains of the adjacents. This is needed because the block hash does not cover the numbers of these chains.
 * @param graph by default, the adjacents may match any known graph
 * @throws LedgerFormatError unless the adjacents are on the neighbouring chains of the header's chain
 */
export function checkAdjacents(header: BlockHeader, graph?: Graph): void {
  const fits = graph ? sameChains(graph[header.chain], header.adjacents) : graphOfHeader(header) !== undefined;
  if (fits) return;
  const found = header.adjacents.map(({ chain }) => chain).join(', ') || 'none';
  const expected = graph ? `are ${graph[header.chain]?.join(', ') || 'none'}` : 'differ on all known networks';
  throw new LedgerFormatError(
    `The adjacents of chain ${header.chain} are on the chains ${found}, but its neighbours ${expected}`,
  );
}

function sameChains(neighbours: readonly number[] | undefined, adjacents: BlockHeader['adjacents']): boolean {
  return neighbours?.length === adjacents.length && adjacents.every(({ chain }, i) => chain === neighbours[i]);
}

/** @returns the number of steps to each chain; undefined for chains that no path leads to */
function distancesFrom(graph: Graph, from: number): (number | undefined)[] {
  const distances: (number | undefined)[] = graph.map(() => undefined);
  let reached = from in graph ? [from] : [];
  for (let steps = 0; reached.length > 0; steps++) {
    for (const chain of reached) distances[chain] = steps;
    reached = [...new Set(reached.flatMap((chain) => graph[chain]))].filter((chain) => distances[chain] === undefined);
  }
  return distances;
}
