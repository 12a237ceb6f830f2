/** What the follower asks of one node. It is implemented over the typed client of a node, and by tests. */

import type { PayloadWithOutputs } from '../ledger/payload.ts';

export interface Head {
  readonly height: bigint;
  /** The block hash: 43 characters of base64url. */
  readonly hash: string;
}

/**
 * One node's view of the ledger. Hashes are block hashes in base64url, 43 characters. Every method throws an Error that says what
 * happened when the node cannot be reached or does not answer as it must.
 */
export interface LedgerView {
  /** The node's name, as it is shown. */
  readonly node: string;
  /** The network's name, as the settings have it: blocks of other networks are not asked for. */
  readonly network: string;
  /** The heads of the node's cut, by chain. */
  heads(stop: AbortSignal): Promise<ReadonlyMap<number, Head>>;
  /**
   * @param upper the hash of the block whose ancestors are asked for; it counts as one of them
   * @returns the hashes of the ancestors whose heights are from `from` to `to`, by height
   */
  ancestors(
    chain: number,
    upper: string,
    from: bigint,
    to: bigint,
    stop: AbortSignal,
  ): Promise<ReadonlyMap<bigint, string>>;
  /** @returns the hashes of all blocks of the heights from `from` to `to` that the node keeps, orphans included */
  keptHashes(chain: number, from: bigint, to: bigint, stop: AbortSignal): Promise<ReadonlySet<string>>;
  /**
   * @returns undefined when the node does not have the payload, or not yet
   * @throws RewardFault when what it has is not this payload
   */
  payloadWithOutputs(
    chain: number,
    payloadHash: Uint8Array,
    height: bigint,
    stop: AbortSignal,
  ): Promise<PayloadWithOutputs | undefined>;
}
