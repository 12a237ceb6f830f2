/**
 * Finds out which chains of a network are neighbours. pickaxe knows the graphs of many networks; of others, only the node can
 * tell it.
 */

import { type Cut, lowestHeight } from '../../../ledger/cut.ts';
import {
  chainsAt,
  checkAdjacents,
  type Graph,
  type GraphSpan,
  graphAt,
  graphOfHeader,
  graphsOfNetwork,
  knownGraph,
  onlyGraph,
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

  /** @returns the graphs with which a cut is checked, the newest first; undefined when nobody knows them */
  async ofCut({ heads }: Cut): Promise<readonly GraphSpan[] | undefined> {
    const own = graphsOfNetwork(this.#api.network);
    if (own) return own;
    const known = knownGraph(heads.size);
    if (known) return onlyGraph(known);
    const told = await this.#graphsTold();
    return graphAt(told, lowestHeight(heads)) ? told : undefined;
  }

  /** mainnet01 and testnet04 cannot have another graph than the one that pickaxe knows. */
  #ownAt(height: bigint): Graph | undefined {
    const chains = chainsAt(this.#api.network, height);
    return chains === undefined ? undefined : knownGraph(chains);
  }

  async #toldAt(height: bigint): Promise<Graph | undefined> {
    return graphAt(await this.#graphsTold(), height);
  }

  #graphsTold(): Promise<readonly GraphSpan[]> {
    this.#told ??= unlessMissing(this.#api.info()).then((info) => info?.graphs ?? []);
    return this.#told;
  }
}
