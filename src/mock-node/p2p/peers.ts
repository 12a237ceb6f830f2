/** The peers that the mock node knows: one list for cuts, and one for each chain's mempool. */

import type { Peer } from '../../ledger/peer.ts';

/** Where a list of peers is used: on the network of cuts, or on that of a chain's mempool. */
export type PeerNetwork = 'cut' | number;

/** How many peers of each network are known. Then the oldest is forgotten. */
export const MAX_PEERS = 1_000;

export class Peers {
  /** The node's own P2P side, if it has a port of its own and says so. */
  own: Peer | null = null;
  readonly #lists = new Map<PeerNetwork, Peer[]>();

  of(network: PeerNetwork): readonly Peer[] {
    return this.#lists.get(network) ?? [];
  }

  /** Adds a peer without looking whether it can be reached; one with the same address is replaced. */
  add(network: PeerNetwork, peer: Peer): void {
    const others = this.of(network).filter((other) => !sameAddress(other, peer));
    this.#lists.set(network, [...others.slice(-(MAX_PEERS - 1)), peer]);
  }

  has(network: PeerNetwork, peer: Peer): boolean {
    return this.of(network).some((other) => sameAddress(other, peer));
  }

  /** Whether the peer is this node. */
  isOwn(peer: Peer): boolean {
    return this.own !== null && sameAddress(this.own, peer);
  }
}

function sameAddress(a: Peer, b: Peer): boolean {
  return a.address.hostname === b.address.hostname && a.address.port === b.address.port;
}
