/** Peers (document 1, "Peers"), and the protocol between the mempools of nodes. */

import { z } from 'zod';
import { type Peer, peerFromJson, peerToJson } from '../../../protocol/ledger/cut.ts';
import { opaqueId } from '../../../protocol/ledger/fields.ts';
import { jsonInteger, LedgerFormatError, parseExactJsonBytes } from '../../../protocol/ledger/json.ts';
import { type PeerNetwork, whyNotAdded } from '../../p2p/peers.ts';
import { pageOf, readPageRequest } from '../collections.ts';
import { type Asked, CHAIN, JSON_TYPE, type Message, parsedBody, type Route } from '../route.ts';

/** Maximum number of peers in a page if the request has no `limit`. */
const DEFAULT_PAGE = 64;
/** Maximum number of peers in a page if the request has a `limit`. */
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

/** A cursor is the index of a peer in the list. */
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

/*
 * The protocol between the mempools of nodes. Document 1 has only the lists of peers for it; everything else is as in
 * real nodes.
 */

const Keys = z.array(opaqueId);
const Commands = z.array(z.string());
const KEYS = 'a list of request keys';

export const mempoolRoutes: readonly Route[] = [
  routeAt('POST', 'getPending', getPending),
  { ...routeAt('POST', 'member', member), takes: JSON_TYPE },
  { ...routeAt('POST', 'lookup', lookup), takes: JSON_TYPE },
  { ...routeAt('PUT', 'insert', insert), takes: JSON_TYPE },
];

function routeAt(method: Route['method'], name: string, answer: Route['answer']): Route {
  const path = new RegExp(`^${CHAIN}/mempool/${name}$`);
  return { endpoint: 'mempool', side: 'p2p', method, path, gives: [JSON_TYPE], answer };
}

/** If the request has the high-water mark of an earlier answer, the answer has only newer commands. */
function getPending({ backend: { commands }, chain, query }: Asked): Message {
  const nonce = integerFrom(query.get('nonce'));
  const since = integerFrom(query.get('since'));
  if (nonce === 'wrong' || since === 'wrong') return { status: 400, text: 'nonce and since are integers' };
  const mark = nonce !== undefined && since !== undefined ? { nonce, next: since } : undefined;
  const { requestKeys, mark: newMark } = commands.pending(chain, mark);
  const highwaterMark = [newMark.nonce, newMark.next].map(jsonInteger);
  return { status: 200, json: { hashes: requestKeys, highwaterMark } };
}

function member({ backend: { commands }, chain, body }: Asked): Message {
  const read = parsedBody(Keys, body, KEYS);
  if ('status' in read) return read;
  return { status: 200, json: read.value.map((key) => commands.lookUp(chain, key) !== undefined) };
}

function lookup({ backend: { commands }, chain, body }: Asked): Message {
  const read = parsedBody(Keys, body, KEYS);
  if ('status' in read) return read;
  const found = read.value.map((key) => commands.lookUp(chain, key));
  const json = found.map((text) => (text === undefined ? { tag: 'Missing' } : { tag: 'Pending', contents: text }));
  return { status: 200, json };
}

/** Refused commands are left out without an error. Only a text that is not a command is an error. */
function insert({ backend: { commands }, chain, body }: Asked): Message {
  const read = parsedBody(Commands, body, 'a list of commands, each a text');
  if ('status' in read) return read;
  const fault = commands.insert(chain, read.value);
  return fault === undefined
    ? { status: 200, text: '' }
    : { status: 400, text: `DecodeException ${JSON.stringify(fault)}` };
}

function integerFrom(text: string | null): number | undefined | 'wrong' {
  if (text === null) return undefined;
  return /^-?\d{1,19}$/.test(text) ? Number(text) : 'wrong';
}
