/** Finds more nodes of a network by asking nodes for their peers. */

import type { Peer } from '../ledger/peer.ts';
import { ApiError } from '../node/api/api-error.ts';
import type { NodeApi } from '../node/api/node-api.ts';
import { urlOfPeer } from '../node/api/peers.ts';

export interface Discovery {
  /** None twice. */
  readonly peers: readonly Peer[];
  /** Why a node has named no peers, one for each such node. */
  readonly faults: readonly string[];
}

/**
 * @param known URLs of nodes that need not be found, of both of their ports
 * @param most how many peers are wanted
 */
export async function discoverPeers(
  apis: readonly Pick<NodeApi, 'peers'>[],
  known: readonly string[],
  most: number,
  stop?: AbortSignal,
): Promise<Discovery> {
  const found = new Map<string, Peer>();
  const faults: string[] = [];
  const origins = new Set(known.map((url) => new URL(url).host));
  for (const api of apis) {
    try {
      for await (const peer of api.peers(stop)) {
        if (found.size >= most) break;
        const { host } = new URL(urlOfPeer(peer));
        if (!origins.has(host) && !found.has(host)) found.set(host, peer);
      }
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      faults.push(error.message);
    }
  }
  return { peers: [...found.values()], faults };
}
