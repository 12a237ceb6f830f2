/** The peers that the mock node knows: one list for cuts, and one for each chain's mempool. */

import { connect } from 'node:net';
import type { Peer } from '../../ledger/peer.ts';

/** The mock speaks with this machine only. */
const LOOPBACK: readonly string[] = ['127.0.0.1', '::1', 'localhost'];
const REACH_MS = 2_000;

/** Where a list of peers is used: on the network of cuts, or on that of a chain's mempool. */
export type PeerNetwork = 'cut' | number;

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
    this.#lists.set(network, [...others, peer]);
  }

  has(network: PeerNetwork, peer: Peer): boolean {
    return this.of(network).some((other) => sameAddress(other, peer));
  }
}

/** @returns why a peer cannot be reached; undefined when it can */
export async function whyUnreachable({ address }: Peer): Promise<string | undefined> {
  const { hostname, port } = address;
  if (!LOOPBACK.includes(hostname)) return 'the mock node reaches only peers on its own machine';
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port, timeout: REACH_MS });
    const end = (reason?: string) => {
      socket.destroy();
      resolve(reason);
    };
    socket.on('connect', () => end());
    socket.on('timeout', () => end('the connection timed out'));
    socket.on('error', (error) => end(error.message));
  });
}

function sameAddress(a: Peer, b: Peer): boolean {
  return a.address.hostname === b.address.hostname && a.address.port === b.address.port;
}
