/** The peers that a node knows, of the network of cuts and of each chain's mempool (document 1, "Peers"). */

import { stringifyExactJson } from '../../ledger/exact-json.ts';
import { type Peer, peerFromJson, peerToJson } from '../../ledger/peer.ts';
import { BY_AUTHORITY, type Trust } from '../../net/trust.ts';
import { type Asker, nothing } from './ask.ts';
import { itemsOf } from './pages.ts';
import { chainPath } from './paths.ts';

/** The most that real nodes give; their default is 64. */
const PAGE_SIZE = 512;

/** @param chain that of a mempool; the network of cuts by default @throws ApiError, while iterating */
export async function* getPeers(
  asker: Asker,
  chain: number | undefined,
  stop: AbortSignal,
): AsyncGenerator<Peer, void> {
  yield* itemsOf(asker, { side: 'p2p', path: pathOf(chain), pageSize: PAGE_SIZE, item: peerFromJson }, stop);
}

/**
 * @param chain that of a mempool; the network of cuts by default
 * @throws ApiError: `bad request` when the node cannot reach the peer
 */
export async function putPeer(asker: Asker, peer: Peer, chain: number | undefined, stop: AbortSignal): Promise<void> {
  const body = stringifyExactJson(peerToJson(peer));
  await asker.ask({ side: 'p2p', method: 'PUT', path: pathOf(chain), body, read: nothing }, stop);
}

/** @returns the URL of a peer's P2P side, without a path */
export function urlOfPeer({ address: { hostname, port } }: Peer): string {
  return `https://${hostname.includes(':') ? `[${hostname}]` : hostname}:${port}`;
}

/** @returns what makes a peer's certificate trusted: its id; for a peer without one, that an authority has signed it */
export function trustOfPeer({ id }: Peer): Trust {
  return id === null ? BY_AUTHORITY : { by: 'peer id', id };
}

function pathOf(chain: number | undefined): string {
  return chain === undefined ? 'cut/peer' : chainPath(chain, 'mempool/peer');
}
