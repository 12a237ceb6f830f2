/** The endpoints of the mock node: which requests each refuses, and what it answers to the others. */

import type { IncomingMessage } from 'node:http';
import { viewOf } from '../../chain/bytes.ts';
import { CHAIN_BYTES, HEADER_OFFSET, TARGET_BYTES } from '../../chain/layout.ts';
import { nonceOf, parentOf } from '../../chain/work.ts';
import type { Block } from '../ledger/chains.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { ServerSettings } from '../options.ts';
import type { Answer, Message } from './answer.ts';
import type { Endpoint } from './faults.ts';
import { askerSchema, isAuthorized } from './miners.ts';
import { admits, isOfType } from './negotiation.ts';

/** What the endpoints need to answer. */
export interface Backend {
  readonly ledger: Ledger;
  readonly settings: ServerSettings;
  readonly miningEnabled: boolean;
  readonly streams: { readonly full: boolean };
}

export interface Route {
  readonly endpoint: Endpoint;
  readonly method: 'GET' | 'POST';
  /** The type of the request's body. Another type is refused with 415. */
  readonly takes?: string;
  /** The type of a successful answer. A client that does not accept it is refused with 406. */
  readonly gives?: string;
  readonly answer: (backend: Backend, body: Buffer, url: URL) => Answer;
}

const OCTETS = 'application/octet-stream';
const JSON_TYPE = 'application/json';

const miningRoutes: Record<string, Route> = {
  '/mining/work': { endpoint: 'work', method: 'GET', takes: JSON_TYPE, gives: OCTETS, answer: answerWork },
  // Real nodes declare their empty answer as JSON.
  '/mining/solved': { endpoint: 'solved', method: 'POST', takes: OCTETS, gives: JSON_TYPE, answer: answerSolved },
  // Real nodes open a stream whatever the client accepts.
  '/mining/updates': { endpoint: 'updates', method: 'GET', takes: OCTETS, answer: answerUpdates },
};
const blockRoute: Route = { endpoint: 'block', method: 'GET', gives: JSON_TYPE, answer: answerBlock };
const configRoute: Route = { endpoint: 'config', method: 'GET', gives: JSON_TYPE, answer: answerConfig };
/** Document 1 does not mention this endpoint, but real nodes have it. */
const healthRoute: Route = {
  endpoint: 'health',
  method: 'GET',
  answer: () => ({ status: 200, text: 'Health check OK.' }),
};

export function routeOf({ ledger, settings, miningEnabled }: Backend, path: string): Route | undefined {
  if (path === '/config') return settings.configServed ? configRoute : undefined;
  if (path === '/health-check') return healthRoute;
  const [, api, version, network, ...rest] = path.split('/');
  if (api !== 'ledger' && api !== 'chainweb') return undefined;
  if (version !== '0.0' || network !== ledger.settings.network) return undefined;
  const inner = `/${rest.join('/')}`;
  if (/^\/chain\/\d+\/block$/.test(inner)) return blockRoute;
  return miningEnabled ? miningRoutes[inner] : undefined;
}

/** @returns why a route refuses a request regardless of its body, checked in the same order as real nodes do */
export function refusalOf({ method, takes, gives }: Route, request: IncomingMessage): Message | undefined {
  const { accept, 'content-type': contentType } = request.headers;
  if (request.method !== method) return { status: 405, text: 'Method Not Allowed' };
  if (gives && !admits(accept, gives)) return { status: 406, text: `this endpoint answers with ${gives}` };
  if (takes && !isOfType(contentType, takes)) return { status: 415, text: `content-type must be ${takes}` };
  return undefined;
}

function answerWork({ ledger, settings }: Backend, body: Buffer): Message {
  let json: unknown;
  try {
    json = JSON.parse(body.toString());
  } catch (error) {
    return { status: 400, text: `Error in $: not JSON: ${error}` };
  }
  const asker = askerSchema.safeParse(json);
  if (!asker.success) return { status: 400, text: `Error in $: ${asker.error.issues[0].message}` };
  const { account } = asker.data;
  if (ledger.hasTooMuchWork) return { status: 503, text: 'Too many work requests' };
  if (!isAuthorized(asker.data, settings.miners)) return { status: 403, text: `Unauthorized Miner: ${account}` };
  return { status: 200, bytes: ledger.issueWork(account) };
}

function answerSolved({ ledger, settings }: Backend, body: Buffer): Message {
  const judgement = ledger.submit(new Uint8Array(body));
  if (judgement.outcome === 'accepted') return { status: settings.acceptedStatus, text: '' };
  return { status: judgement.outcome === 'stale' ? 404 : 400, text: judgement.reason };
}

/** Answers a wrong body with a reason. Real nodes answer 500 instead, and for an unknown chain they never answer. */
function answerUpdates({ ledger, streams }: Backend, body: Buffer): Answer {
  if (streams.full) return { status: 503, text: 'No more update streams available currently. Retry later.' };
  if (body.length !== CHAIN_BYTES) return { status: 400, text: `Decoding error: expected ${CHAIN_BYTES} bytes` };
  const chain = viewOf(body).getUint32(0, true);
  if (chain >= ledger.settings.chains) return { status: 400, text: `Decoding error: no chain ${chain}` };
  return { stream: chain };
}

/** Answers with the part of the configuration that concerns mining (document 1, "Configuration"). */
function answerConfig({ ledger, settings, miningEnabled }: Backend): Message {
  const coordination = {
    enabled: miningEnabled,
    limit: ledger.settings.workLimit,
    miners: settings.miners,
    payloadRefreshDelay: ledger.settings.refreshMs * 1000,
    updateStreamLimit: settings.streamLimit,
    updateStreamTimeout: settings.streamMs * 1000,
  };
  const mining = { coordination, nodeMining: { enabled: false } };
  return { status: 200, json: { ledgerVersion: ledger.settings.network, mining } };
}

/** Answers with a page of whole blocks, ascending (document 1, "Whole blocks"). */
function answerBlock({ ledger }: Backend, _body: Buffer, url: URL): Message {
  const { chains, network } = ledger.settings;
  const chain = Number(url.pathname.split('/').at(-2));
  if (chain >= chains) return { status: 404, text: 'no such chain' };
  const min = heightFrom(url.searchParams.get('minheight') ?? '0');
  const max = heightFrom(url.searchParams.get('maxheight') ?? String(2n ** 64n - 1n));
  if (min === undefined || max === undefined) return { status: 400, text: 'heights are integers >= 0' };
  const blocks = ledger.blocks(chain, min, max);
  if (blocks.length === 0) return { status: 404, text: 'no block matched' };
  const items = blocks.map((block) => ({ header: headerJson(block, network), payloadWithOutputs: {} }));
  return { status: 200, json: { items, limit: items.length, next: null } };
}

function headerJson({ header, hash, timeUs }: Block, network: string): unknown {
  const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url');
  const view = viewOf(header);
  return {
    creationTime: Number(timeUs),
    parent: base64(parentOf(header)),
    height: Number(view.getBigUint64(HEADER_OFFSET.height, true)),
    hash: base64(hash),
    chainId: view.getUint32(HEADER_OFFSET.chain, true),
    target: base64(header.subarray(HEADER_OFFSET.target, HEADER_OFFSET.target + TARGET_BYTES)),
    ledgerVersion: network,
    // This is a decimal string, because most nonces are too large for a JSON number.
    nonce: nonceOf(header).toString(),
  };
}

function heightFrom(text: string): bigint | undefined {
  return /^\d{1,20}$/.test(text) ? BigInt(text) : undefined;
}
