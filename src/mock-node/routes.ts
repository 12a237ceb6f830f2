/** The mock node's endpoints: what each refuses, and what it answers when nothing goes wrong. */

import type { IncomingMessage } from 'node:http';
import { viewOf } from '../chain/bytes.ts';
import { CHAIN_BYTES, HEADER_OFFSET } from '../chain/layout.ts';
import { nonceOf, parentOf } from '../chain/work.ts';
import type { Block } from './chains.ts';
import type { Endpoint } from './faults.ts';
import type { MockNode } from './mock-node.ts';
import { admits, isOfType } from './negotiation.ts';
import { askerSchema } from './options.ts';

export type Answer =
  | { readonly status: number; readonly text: string; readonly headers?: Record<string, string> }
  | { readonly status: number; readonly bytes: Uint8Array; readonly headers?: Record<string, string> }
  | { readonly status: number; readonly json: unknown; readonly headers?: Record<string, string> }
  /** An update stream for this chain. */
  | { readonly stream: number };

export interface Route {
  readonly endpoint: Endpoint;
  readonly method: 'GET' | 'POST';
  /** Of the request's body: 415 for any other. */
  readonly takes?: string;
  /** Of the answer when all is well: 406 for a client that does not accept it. */
  readonly gives?: string;
  readonly answer: (node: MockNode, body: Buffer, url: URL) => Answer;
}

const OCTETS = 'application/octet-stream';
const JSON_TYPE = 'application/json';

const routes: Record<string, Route> = {
  '/mining/work': { endpoint: 'work', method: 'GET', takes: JSON_TYPE, gives: OCTETS, answer: answerWork },
  // Real nodes declare their empty answer as JSON.
  '/mining/solved': { endpoint: 'solved', method: 'POST', takes: OCTETS, gives: JSON_TYPE, answer: answerSolved },
  // Real nodes open a stream whatever the client accepts.
  '/mining/updates': { endpoint: 'updates', method: 'GET', takes: OCTETS, answer: answerUpdates },
};
const configRoute: Route = { endpoint: 'config', method: 'GET', gives: JSON_TYPE, answer: answerConfig };
/** As real nodes have it beside document 1. */
const healthRoute: Route = {
  endpoint: 'health',
  method: 'GET',
  answer: () => ({ status: 200, text: 'Health check OK.' }),
};
const blockRoute: Route = { endpoint: 'block', method: 'GET', gives: JSON_TYPE, answer: answerBlock };

export function routeOf(node: MockNode, path: string): Route | undefined {
  if (path === '/config') return node.settings.configServed ? configRoute : undefined;
  if (path === '/health-check') return healthRoute;
  const [, api, version, network, ...rest] = path.split('/');
  if ((api !== 'ledger' && api !== 'chainweb') || version !== '0.0' || network !== node.settings.network)
    return undefined;
  const inner = `/${rest.join('/')}`;
  if (/^\/chain\/\d+\/block$/.test(inner)) return blockRoute;
  return node.miningEnabled ? routes[inner] : undefined;
}

/** What a route refuses a request for, whatever is in its body: in the order of real nodes. */
export function refusalOf({ method, takes, gives }: Route, request: IncomingMessage): Answer | undefined {
  const { accept, 'content-type': contentType } = request.headers;
  if (request.method !== method) return { status: 405, text: 'Method Not Allowed' };
  if (gives && !admits(accept, gives)) return { status: 406, text: `this endpoint answers with ${gives}` };
  if (takes && !isOfType(contentType, takes)) return { status: 415, text: `content-type must be ${takes}` };
  return undefined;
}

function answerWork(node: MockNode, body: Buffer): Answer {
  let json: unknown;
  try {
    json = JSON.parse(body.toString());
  } catch (error) {
    return { status: 400, text: `Error in $: not JSON: ${error}` };
  }
  const miner = askerSchema.safeParse(json);
  if (!miner.success) return { status: 400, text: `Error in $: ${miner.error.issues[0].message}` };
  if (node.hasTooMuchWork) return { status: 503, text: 'Too many work requests' };
  if (!node.isAuthorized(miner.data)) return { status: 403, text: `Unauthorized Miner: ${miner.data.account}` };
  return { status: 200, bytes: node.issueWork(miner.data) };
}

function answerSolved(node: MockNode, body: Buffer): Answer {
  const judgement = node.submit(new Uint8Array(body));
  if (judgement.status === 'taken') return { status: node.settings.acceptedStatus, text: '' };
  return { status: judgement.status, text: judgement.text };
}

/** Of a wrong body this says what is wrong. Real nodes fail with 500, and for an unknown chain they never answer. */
function answerUpdates(node: MockNode, body: Buffer): Answer {
  if (node.streams.full) return { status: 503, text: 'No more update streams available currently. Retry later.' };
  if (body.length !== CHAIN_BYTES) return { status: 400, text: `Decoding error: expected ${CHAIN_BYTES} bytes` };
  const chain = viewOf(body).getUint32(0, true);
  if (chain >= node.settings.chains) return { status: 400, text: `Decoding error: no chain ${chain}` };
  return { stream: chain };
}

/** Document 1, "Configuration": the part that concerns mining. */
function answerConfig(node: MockNode): Answer {
  const { network, miners, workLimit, streamLimit, streamMs } = node.settings;
  const coordination = {
    enabled: node.miningEnabled,
    limit: workLimit,
    miners,
    payloadRefreshDelay: node.settings.refreshMs * 1000,
    updateStreamLimit: streamLimit,
    updateStreamTimeout: streamMs * 1000,
  };
  return { status: 200, json: { ledgerVersion: network, mining: { coordination, nodeMining: { enabled: false } } } };
}

/** A page of whole blocks, ascending (document 1, "Whole blocks"). */
function answerBlock(node: MockNode, _body: Buffer, url: URL): Answer {
  const chain = Number(url.pathname.split('/').at(-2));
  if (chain >= node.settings.chains) return { status: 404, text: 'no such chain' };
  const min = heightOf(url.searchParams.get('minheight') ?? '0');
  const max = heightOf(url.searchParams.get('maxheight') ?? String(2n ** 64n - 1n));
  if (min === undefined || max === undefined) return { status: 400, text: 'heights are integers >= 0' };
  const blocks = node.blocks(chain, min, max);
  if (blocks.length === 0) return { status: 404, text: 'no block matched' };
  const items = blocks.map((block) => ({ header: headerJson(block, node), payloadWithOutputs: {} }));
  return { status: 200, json: { items, limit: items.length, next: null } };
}

function headerJson({ header, hash, timeUs }: Block, node: MockNode): unknown {
  const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url');
  const view = viewOf(header);
  return {
    creationTime: Number(timeUs),
    parent: base64(parentOf(header)),
    height: Number(view.getBigUint64(HEADER_OFFSET.height, true)),
    hash: base64(hash),
    chainId: view.getUint32(HEADER_OFFSET.chain, true),
    target: base64(header.subarray(HEADER_OFFSET.target, HEADER_OFFSET.target + 32)),
    ledgerVersion: node.settings.network,
    // A decimal string: most nonces are beyond what a JSON number holds.
    nonce: nonceOf(header).toString(),
  };
}

function heightOf(text: string): bigint | undefined {
  return /^\d{1,20}$/.test(text) ? BigInt(text) : undefined;
}
