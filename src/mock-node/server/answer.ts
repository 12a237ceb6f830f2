/** The answers of endpoints, and how they are sent, with the headers of a node. */

import type { ServerResponse } from 'node:http';
import { isIPv6 } from 'node:net';
import { type ExactJson, stringifyExactJson } from '../../ledger/exact-json.ts';
import type { Dialect } from '../../ledger/header-json.ts';
import { corsHeaders } from './cors.ts';
import type { StreamTopic } from './streams.ts';

/** An answer with a complete body of text, bytes, or JSON with exact numbers. */
export type Message = {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether something between client and node answers. Then the node's headers are missing. */
  readonly foreign?: boolean;
} & ({ readonly text: string } | { readonly bytes: Uint8Array } | { readonly json: ExactJson });

/** An answer, or a stream of events. */
export type Answer = Message | { readonly stream: StreamTopic };

/** The version of the node's software. */
export const NODE_VERSION = '2.24.1';
const VERSION_HEADER = { document: 'x-ledger-node-version', chainweb: 'x-chainweb-node-version' } as const;

/** What the headers of an answer depend on. */
export interface NodeFacts {
  /** The node's clock: µs since the UNIX epoch. */
  readonly nowUs: bigint;
  readonly dialect: Dialect;
  /** Whether clients are told their own address. Of a real node, only the P2P side does. */
  readonly namesPeer: boolean;
  /** Whether web pages may read the answer. Of a real node, they may read the service side. */
  readonly isForPages: boolean;
}

export function sendMessage(response: ServerResponse, message: Message, facts: NodeFacts): void {
  response.end(writeHead(response, message, facts));
}

/** Sends the head and half of the body, and leaves the answer unfinished. */
export function sendHalf(response: ServerResponse, message: Message, facts: NodeFacts): void {
  const body = writeHead(response, message, facts);
  response.flushHeaders();
  response.write(body.slice(0, body.length / 2));
}

export function sendStreamHead(response: ServerResponse, facts: NodeFacts): void {
  const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' };
  response.writeHead(200, { ...nodeHeaders(response, facts), ...headers });
  response.flushHeaders();
}

/** @returns the body, which the caller must send */
function writeHead(response: ServerResponse, message: Message, facts: NodeFacts): string | Uint8Array {
  const [type, body] = encode(message);
  response.writeHead(message.status, {
    ...(!message.foreign && nodeHeaders(response, facts)),
    ...(body.length > 0 && { 'content-type': type }),
    ...message.headers,
  });
  return body;
}

function encode(message: Message): [type: string, body: string | Uint8Array] {
  if ('json' in message) return ['application/json', stringifyExactJson(message.json)];
  if ('bytes' in message) return ['application/octet-stream', message.bytes];
  return ['text/plain;charset=utf-8', message.text];
}

/** @returns the headers that every answer of a node has (document 1, "Conventions") */
function nodeHeaders({ req }: ServerResponse, facts: NodeFacts): Record<string, string> {
  const { nowUs, dialect, namesPeer, isForPages } = facts;
  const { remoteAddress = '', remotePort } = req.socket;
  const host = isIPv6(remoteAddress) ? `[${remoteAddress}]` : remoteAddress;
  return {
    ...(isForPages && corsHeaders(req)),
    ...(namesPeer && { 'x-peer-addr': `${host}:${remotePort}` }),
    'x-server-timestamp': String(nowUs / 1_000_000n),
    [VERSION_HEADER[dialect]]: NODE_VERSION,
  };
}
