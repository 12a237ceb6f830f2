/** Decides whether a peer is added to the list of peers (document 1, "Peers"), in the words of real nodes. */

import type { Peer } from '../../ledger/peer.ts';
import { type PeerClient, PeerError } from './peer-client.ts';
import type { PeerNetwork, Peers } from './peers.ts';

/** By one of these headers a node is known. */
const VERSION_HEADERS = ['x-chainweb-node-version', 'x-ledger-node-version'];

/**
 * A peer must be a node that can be reached; one that is known already is not asked again.
 * @returns why it is not added; undefined when it may be
 */
export async function whyNotAdded(
  network: PeerNetwork,
  peer: Peer,
  peers: Peers,
  client: PeerClient,
): Promise<string | undefined> {
  if (peers.isOwn(peer)) return 'IsLocalPeerAddress';
  if (peers.has(network, peer)) return undefined;
  const path = network === 'cut' ? '/cut/peer' : `/chain/${network}/mempool/peer`;
  try {
    const { headers } = await client.ask({ ...peer, id: null }, { path });
    if (VERSION_HEADERS.some((name) => headers[name] !== undefined)) return undefined;
    return notReachable(`missing ${VERSION_HEADERS[0]} header`);
  } catch (error) {
    if (error instanceof PeerError) return notReachable(error.message);
    throw error;
  }
}

function notReachable(why: string): string {
  return `IsNotReachable ${JSON.stringify(why)}`;
}
