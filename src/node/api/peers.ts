/** The peers that a node knows, of the network of cuts and of each chain's mempool (document 1, "Peers"). */

import { LedgerFormatError } from '../../ledger/errors.ts';
import { type ExactJson, stringifyExactJson } from '../../ledger/exact-json.ts';
import { type Peer, peerFromJson, peerToJson } from '../../ledger/peer.ts';
import { BY_AUTHORITY, type Trust } from '../../net/trust.ts';
import { quote } from '../errors.ts';
import { ApiError } from './api-error.ts';
import { type Asker, nothing } from './ask.ts';
import { itemsOf } from './pages.ts';
import { chainPath } from './paths.ts';

/** The most that real nodes give; their default is 64. */
const PAGE_SIZE = 512;

/** More peers than any network has. */
const MOST_PEERS = 2n ** 16n;

export interface PeersQuery {
  /** Is told once, at the end, when peers were left out because they are not understood: how many, and why the first one. */
  readonly onLeftOut?: (fault: ApiError) => void;
}

/**
 * Nodes pass on what other nodes have told them, so a peer that is not understood is left out: the others are good.
 * @param chain that of a mempool; the network of cuts by default
 * @throws ApiError, while iterating
 */
export async function* getPeers(
  asker: Asker,
  chain: number | undefined,
  { onLeftOut }: PeersQuery,
  stop: AbortSignal,
): AsyncGenerator<Peer, void> {
  let first: LedgerFormatError | undefined;
  let count = 0;
  const collection = {
    side: 'p2p',
    path: pathOf(chain),
    pageSize: PAGE_SIZE,
    most: MOST_PEERS,
    item: peerOrFault,
  } as const;
  try {
    for await (const peer of itemsOf(asker, collection, stop)) {
      if (peer instanceof LedgerFormatError) {
        first ??= peer;
        count += 1;
      } else yield peer;
    }
  } finally {
    if (first) onLeftOut?.(leftOut(asker, first, count));
  }
}

function peerOrFault(json: ExactJson): Peer | LedgerFormatError {
  try {
    return peerFromJson(json);
  } catch (fault) {
    if (fault instanceof LedgerFormatError) return fault;
    throw fault;
  }
}

function leftOut({ name }: Asker, first: LedgerFormatError, count: number): ApiError {
  const which = count === 1 ? 'a peer that is not understood' : `${count} peers that are not understood, as this one`;
  return new ApiError('not understood', `${name} names ${which}: ${quote(first.message)}.`, { cause: first });
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
