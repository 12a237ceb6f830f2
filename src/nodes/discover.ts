/** Finds more nodes of a network by asking nodes for their peers. */

import type { Peer } from '../ledger/cut.ts';
import { isNearOnly, isOnThisMachine } from '../net/near-addresses.ts';
import { ApiError } from '../node/api/api-error.ts';
import { urlOfPeer } from '../node/api/info.ts';
import type { NodeApi } from '../node/api/node-api.ts';

export interface Discovery {
  /** None twice. */
  readonly peers: readonly Peer[];
  /** Why nodes have named no peers, and which peers were left out because they are not understood. */
  readonly faults: readonly string[];
}

/** How many peers of one node are looked at: it may name the same ones for ever. */
const MOST_NAMED = 4096;

/**
 * Peers are what strangers say, so addresses are left out that cannot belong to a node of the network; those of this machine can
 * where one of the known nodes is on it. No node can name so many
 * peers that there is no place for those of the others.
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
  const knownUrls = known.map((url) => new URL(url));
  const origins = new Set(knownUrls.map(({ host }) => host));
  const isLocalNetwork = knownUrls.some(({ hostname }) => isOnThisMachine(hostname));
  const isOfNoUse = (hostname: string) => isNearOnly(hostname) && !(isLocalNetwork && isOnThisMachine(hostname));
  for (const [i, api] of apis.entries()) {
    let places = Math.ceil((most - found.size) / (apis.length - i));
    let named = 0;
    try {
      for await (const peer of api.peers({ onLeftOut: ({ message }) => faults.push(message) }, stop)) {
        if (places === 0 || named++ === MOST_NAMED) break;
        const url = urlOfPeer(peer);
        if (!URL.canParse(url)) continue;
        const { host, hostname } = new URL(url);
        if (origins.has(host) || found.has(host) || isOfNoUse(hostname)) continue;
        found.set(host, peer);
        places--;
      }
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      faults.push(error.message);
    }
  }
  return { peers: [...found.values()], faults };
}
