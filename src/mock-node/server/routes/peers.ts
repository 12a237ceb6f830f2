/** Peers (document 1, "Peers"). */

import { LedgerFormatError } from '../../../ledger/errors.ts';
import { parseExactJsonBytes } from '../../../ledger/exact-json.ts';
import { type Peer, peerFromJson, peerToJson } from '../../../ledger/peer.ts';
import { whyNotAdded } from '../../p2p/guard.ts';
import type { PeerNetwork } from '../../p2p/peers.ts';
import type { Message } from '../answer.ts';
import { pageOf, readPageRequest } from '../pages.ts';
import { type Asked, CHAIN, JSON_TYPE, type Route } from '../route.ts';

/** How many peers a page has, unless more are asked for, and at most. */
const DEFAULT_PAGE = 64;
const CAP = 512;

export const peerRoutes: readonly Route[] = [
  ...routesAt('/cut/peer', () => 'cut'),
  ...routesAt(`${CHAIN}/mempool/peer`, ({ chain }) => chain),
];

function routesAt(path: string, networkOf: (asked: Asked) => PeerNetwork): Route[] {
  const common = { endpoint: 'peers', side: 'p2p', path: new RegExp(`^${path}$`) } as const;
  return [
    { ...common, method: 'GET', gives: [JSON_TYPE], answer: (asked) => getPeers(asked, networkOf(asked)) },
    { ...common, method: 'PUT', takes: JSON_TYPE, answer: (asked) => putPeer(asked, networkOf(asked)) },
  ];
}

/** Cursors of peers are their numbers. */
function getPeers(asked: Asked, network: PeerNetwork): Message {
  const page = readPageRequest(asked, asked.query.has('limit') ? CAP : DEFAULT_PAGE);
  if ('status' in page) return page;
  const { next } = page;
  if (next && !/^\d{1,9}$/.test(next.value)) return { status: 400, text: 'next names the number of a peer' };
  const start = next ? Number(next.value) + (next.kind === 'exclusive' ? 1 : 0) : 0;
  const items = asked.backend.peers.of(network);
  const collection = { items, keyOf: (_: Peer, index: number) => String(index), json: peerToJson, grows: false };
  return { status: 200, json: pageOf(collection, start, page, asked) };
}

async function putPeer({ backend, body }: Asked, network: PeerNetwork): Promise<Message> {
  let peer: Peer;
  try {
    peer = peerFromJson(parseExactJsonBytes(body));
  } catch (error) {
    if (error instanceof LedgerFormatError) return { status: 400, text: `Invalid hostaddress: ${error.message}` };
    throw error;
  }
  const reason = await whyNotAdded(network, peer, backend.peers, backend.peerClient);
  if (reason !== undefined) return { status: 400, text: `Invalid hostaddress: ${reason}` };
  backend.peers.add(network, peer);
  return { status: 204, text: '' };
}
