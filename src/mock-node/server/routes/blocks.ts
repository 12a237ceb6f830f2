/** Blocks, hashes, headers and cuts (document 1), and streams of new blocks. */

import { toHex } from '../../../protocol/chain/bytes.ts';
import { type Cut, cutFromJson, cutToJson } from '../../../protocol/ledger/cut.ts';
import { headerToJson, powHash } from '../../../protocol/ledger/header.ts';
import {
  type ExactJson,
  type ExactJsonObject,
  encodeBase64url,
  jsonInteger,
  LedgerFormatError,
  parseExactJsonBytes,
  stringifyExactJson,
} from '../../../protocol/ledger/json.ts';
import { payloadWithOutputsToJson } from '../../../protocol/ledger/payload.ts';
import type { Block } from '../../ledger/block-store.ts';
import { blocksAbove, cutOf } from '../../ledger/chains.ts';
import { ascending, type BlockCollection, branch } from '../collections.ts';
import {
  type Asked,
  answeredPayload,
  CHAIN,
  isHash,
  JSON_TYPE,
  keyNotFound,
  type Message,
  NO_MORE_STREAMS,
  naturalFrom,
  OCTETS,
  preferred,
  type Route,
} from '../route.ts';
import type { BlockTopic } from '../streams.ts';

const BLOCKS = { cap: 360, json: blockJson };

export const blockRoutes = collectionRoutes('block', () => BLOCKS, { side: 'service' });

/** @returns the routes to a chain's blocks in a range of heights, and to the branches below given blocks */
function collectionRoutes(
  endpoint: 'block' | 'hash' | 'header',
  collectionOf: (asked: Asked) => BlockCollection,
  {
    side,
    finish = (message) => message,
  }: Pick<Route, 'side'> & { finish?: (message: Message, asked: Asked) => Message },
): readonly Route[] {
  const path = `^${CHAIN}/${endpoint}`;
  const common = { endpoint, ...(side && { side }), gives: [JSON_TYPE] };
  const inOrder = (asked: Asked) => finish(ascending(asked, collectionOf(asked)), asked);
  const ofBranch = (asked: Asked) => finish(branch(asked, collectionOf(asked)), asked);
  return [
    { ...common, method: 'GET', path: new RegExp(`${path}$`), answer: inOrder },
    { ...common, method: 'POST', path: new RegExp(`${path}/branch$`), takes: JSON_TYPE, answer: ofBranch },
  ];
}

function blockJson({ header, payload }: Block, asked: Asked): ExactJson {
  const { network } = asked.backend.ledger.settings;
  return {
    header: headerToJson(header, asked.dialect, network),
    payloadWithOutputs: payloadWithOutputsToJson(answeredPayload(payload, asked.fault)),
  };
}

/*
 * Streams of all new blocks. Document 1 has only the setting `headerStream` for them; everything else is as in real
 * nodes.
 */

export const blockStreamRoutes: readonly Route[] = (['header', 'block'] as const).map((of) => ({
  endpoint: of,
  side: 'service',
  method: 'GET',
  path: new RegExp(`^/${of}/updates$`),
  when: ({ settings }) => settings.headerStream,
  answer: ({ backend: { streams }, dialect }) => (streams.full ? NO_MORE_STREAMS : { stream: { of, dialect } }),
}));

export function blockEvent({ header, payload }: Block, { of, dialect }: BlockTopic, network: string): string {
  const json: ExactJsonObject = {
    header: headerToJson(header, dialect, network),
    txCount: jsonInteger(payload.transactions.length),
    powHash: bigEndian(powHash(header)),
    target: bigEndian(header.target),
    ...(of === 'block' && { payloadWithOutputs: payloadWithOutputsToJson(payload) }),
  };
  return `event:BlockHeader\ndata:${stringifyExactJson(json)}\n\n`;
}

function bigEndian(bytes: Uint8Array): string {
  return toHex(Uint8Array.from(bytes).reverse());
}

/* Block hashes (document 1, "Block hashes"). */

const HASHES = { cap: 4096, json: ({ id }: { readonly id: string }) => id };

export const hashRoutes = collectionRoutes('hash', () => HASHES, { side: 'service' });

/* Block headers. Document 1 does not have these endpoints, but real nodes do. */

/** Maximum number of headers in a page of the service side. */
const CAP = 360;
/** The same maximum on a P2P side with a port of its own. */
const CAP_P2P = 20;

export const headerRoutes: readonly Route[] = [
  ...collectionRoutes('header', headers, { finish: typed }),
  {
    endpoint: 'header',
    method: 'GET',
    path: new RegExp(`^${CHAIN}/header/(?<hash>[\\w-]+)$`),
    gives: [JSON_TYPE, OCTETS],
    answer: oneHeader,
  },
];

function headers({ backend }: Asked): BlockCollection {
  return { cap: backend.side === 'p2p' ? CAP_P2P : CAP, json: headerJson };
}

function oneHeader(asked: Asked): Message {
  if (!isHash(asked.params.hash)) return { status: 400, text: 'a block hash is 43 characters of base64url' };
  const block = asked.backend.ledger.chains.blocksOf(asked.chain).get(asked.params.hash);
  if (!block) return keyNotFound(asked.params.hash);
  if (preferred(asked.accept, [JSON_TYPE, OCTETS]) === OCTETS) return { status: 200, bytes: binary(block) };
  return typed({ status: 200, json: headerJson(block, asked) }, asked);
}

/** @returns the header followed by its hash, in base64url; an object if the client asks for objects */
function headerJson(block: Block, asked: Asked): ExactJson {
  if (!wantsObjects(asked)) return encodeBase64url(binary(block));
  return headerToJson(block.header, asked.dialect, asked.backend.ledger.settings.network);
}

/** Sets the content type of an answer in which block headers are objects. */
function typed(message: Message, asked: Asked): Message {
  if (message.status !== 200 || !wantsObjects(asked)) return message;
  return { ...message, headers: { 'content-type': `${JSON_TYPE};blockheader-encoding=object` } };
}

function wantsObjects({ accept = '' }: Asked): boolean {
  return /blockheader-encoding\s*=\s*"?object/i.test(accept);
}

/** @returns the header followed by its hash */
function binary({ bytes, hash }: Block): Uint8Array {
  return Buffer.concat([bytes, hash]);
}

/* Cuts (document 1, "Cut"). */

export const cutRoutes: readonly Route[] = [
  { endpoint: 'cut', method: 'GET', path: /^\/cut$/, gives: [JSON_TYPE], answer: getCut },
  { endpoint: 'cut', side: 'p2p', method: 'PUT', path: /^\/cut$/, takes: JSON_TYPE, answer: putCut },
];

function getCut({ backend, query, fault }: Asked): Message {
  const { ledger, peers, commands } = backend;
  const maxHeight = naturalFrom(query.get('maxheight') ?? String(2n ** 64n - 1n));
  if (maxHeight === undefined) return { status: 400, text: 'maxheight is an integer >= 0' };
  commands.catchUp();
  const below = blocksAbove(ledger.chains, maxHeight);
  const blocksBack = below + (fault?.kind === 'old-cut' ? fault.blocksBack : 0);
  const cut = cutOf(ledger.chains, { origin: peers.own, network: ledger.settings.network, blocksBack });
  return { status: 200, json: cutToJson(cut) };
}

/** The status 204 means only that the node will examine the cut. */
function putCut({ backend: { peers, cuts }, body }: Asked): Message {
  let cut: Cut;
  try {
    cut = cutFromJson(parseExactJsonBytes(body));
  } catch (error) {
    if (error instanceof LedgerFormatError) return { status: 400, text: `Error in $: ${error.message}` };
    throw error;
  }
  if (!cut.origin) return { status: 400, text: 'Cut is missing an origin entry' };
  if (!peers.has('cut', cut.origin)) return { status: 401, text: 'Unknown peer' };
  cuts.take(cut);
  return { status: 204, text: '' };
}
