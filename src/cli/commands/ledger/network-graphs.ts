/**
 * Finds out which chains of a network are neighbours. pickaxe knows the graphs of many networks; of others, only the node can
 * tell it.
 */

import type { Cut } from '../../../ledger/cut.ts';
import {
  chainsAt,
  checkAdjacents,
  type Graph,
  type GraphSpan,
  graphAt,
  graphOfHeader,
  knownGraph,
} from '../../../ledger/graphs.ts';
import type { BlockHeader } from '../../../ledger/header.ts';
import type { NodeApi } from '../../../node/api/node-api.ts';
import { unlessMissing } from '../../../nodes/look.ts';

/** `node`: only the node says so. `nobody`: neither pickaxe nor the node knows the graph. */
export type GraphFrom = 'pickaxe' | 'node' | 'nobody';

export class NetworkGraphs {
  readonly #api: Pick<NodeApi, 'network' | 'info'>;
  #told: Promise<readonly GraphSpan[]> | undefined;

  constructor(api: Pick<NodeApi, 'network' | 'info'>) {
    this.#api = api;
  }

  /**
   * @returns who has said which chains are neighbours; nobody: the header is not checked
   * @throws LedgerFormatError when the header's adjacents are not on the neighbours of its chain
   */
  async check(header: BlockHeader): Promise<GraphFrom> {
    // A header names the parents of its block, so its graph is that of one height below.
    const height = header.height - 1n;
    const own = this.#ownAt(height);
    if (own) checkAdjacents(header, own);
    if (own ?? graphOfHeader(header)) return 'pickaxe';
    const told = await this.#toldAt(height);
    if (!told) return 'nobody';
    checkAdjacents(header, told);
    return 'node';
  }

  /** @returns the graph of a cut, and who has said it */
  async ofCut({ heads }: Cut): Promise<{ readonly graph?: Graph; readonly from: GraphFrom }> {
    const heights = [...heads.values()].map(({ height }) => height);
    const lowest = heights.reduce((a, b) => (a < b ? a : b));
    const own = this.#ownAt(lowest) ?? knownGraph(heads.size);
    if (own) return { graph: own, from: 'pickaxe' };
    const graph = await this.#toldAt(lowest);
    return graph ? { graph, from: 'node' } : { from: 'nobody' };
  }

  /** mainnet01 and testnet04 cannot have another graph than the one that pickaxe knows. */
  #ownAt(height: bigint): Graph | undefined {
    const chains = chainsAt(this.#api.network, height);
    return chains === undefined ? undefined : knownGraph(chains);
  }

  async #toldAt(height: bigint): Promise<Graph | undefined> {
    this.#told ??= unlessMissing(this.#api.info()).then((info) => info?.graphs ?? []);
    return graphAt(await this.#told, height);
  }
}
