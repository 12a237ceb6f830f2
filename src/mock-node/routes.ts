/** What each endpoint of the mock node answers when nothing goes wrong. */

import type { IncomingMessage } from 'node:http';
import { viewOf } from '../chain/bytes.ts';
import { CHAIN_BYTES, HEADER_OFFSET } from '../chain/layout.ts';
import { nonceOf, parentOf } from '../chain/work.ts';
import type { Block } from './chains.ts';
import type { MockNode } from './mock-node.ts';
import { minerSchema } from './options.ts';

export type Answer =
  | { readonly status: number; readonly text: string; readonly headers?: Record<string, string> }
  | { readonly status: number; readonly bytes: Uint8Array; readonly headers?: Record<string, string> }
  | { readonly status: number; readonly json: unknown; readonly headers?: Record<string, string> }
  /** An update stream for this chain. */
  | { readonly stream: number };

const OCTETS = 'application/octet-stream';

export function answerWork(node: MockNode, request: IncomingMessage, body: Buffer): Answer {
  if (!hasType(request, 'application/json')) return { status: 415, text: 'content-type must be application/json' };
  if (!accepts(request, OCTETS)) return { status: 406, text: `this endpoint answers with ${OCTETS}` };
  let json: unknown;
  try {
    json = JSON.parse(body.toString());
  } catch (error) {
    return { status: 400, text: `Error in $: not JSON: ${error}` };
  }
  const miner = minerSchema.safeParse(json);
  if (!miner.success) return { status: 400, text: `Error in $: ${miner.error.issues[0].message}` };
  if (!node.isAuthorized(miner.data)) return { status: 403, text: `Unauthorized Miner: ${miner.data.account}` };
  return { status: 200, bytes: node.issueWork(miner.data) };
}

export function answerSolved(node: MockNode, request: IncomingMessage, body: Buffer): Answer {
  if (!hasType(request, OCTETS)) return { status: 415, text: `content-type must be ${OCTETS}` };
  const judgement = node.submit(new Uint8Array(body));
  if (judgement.status === 'taken') return { status: node.settings.acceptedStatus, text: '' };
  return { status: judgement.status, text: judgement.text };
}

export function answerUpdates(node: MockNode, request: IncomingMessage, body: Buffer): Answer {
  if (!accepts(request, 'text/event-stream')) return { status: 406, text: 'this endpoint answers with events' };
  if (body.length !== CHAIN_BYTES) return { status: 400, text: `Decoding error: expected ${CHAIN_BYTES} bytes` };
  const chain = viewOf(body).getUint32(0, true);
  if (chain >= node.settings.chains) return { status: 400, text: `Decoding error: no chain ${chain}` };
  if (node.streams.full) return { status: 503, text: 'No more update streams available currently. Retry later.' };
  return { stream: chain };
}

/** Document 1, "Configuration": the part that concerns mining. */
export function answerConfig(node: MockNode): Answer {
  const { network, miners, streamLimit, streamMs } = node.settings;
  const coordination = {
    enabled: node.miningEnabled,
    limit: 1200,
    miners,
    payloadRefreshDelay: node.settings.refreshMs * 1000,
    updateStreamLimit: streamLimit,
    updateStreamTimeout: streamMs * 1000,
  };
  return { status: 200, json: { ledgerVersion: network, mining: { coordination, nodeMining: { enabled: false } } } };
}

/** A page of whole blocks, ascending (document 1, "Whole blocks"). */
export function answerBlock(node: MockNode, _request: IncomingMessage, _body: Buffer, url: URL): Answer {
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

function hasType(request: IncomingMessage, type: string): boolean {
  return (request.headers['content-type'] ?? '').split(';')[0].trim().toLowerCase() === type;
}

function accepts(request: IncomingMessage, type: string): boolean {
  const accept = request.headers.accept ?? '*/*';
  return accept.includes(type) || accept.includes('*/*');
}
