/** What all endpoints of the mock node have in common: requests, routes, and how answers are made and sent. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { isIPv6 } from 'node:net';
import { z } from 'zod';
import { WORK_BYTES } from '../../protocol/chain/bytes.ts';
import { decimalOf, ONE } from '../../protocol/ledger/decimal.ts';
import { opaqueId } from '../../protocol/ledger/fields.ts';
import type { Dialect } from '../../protocol/ledger/header.ts';
import {
  type ExactJson,
  isExactJsonObject,
  parseExactJsonBytes,
  stringifyExactJson,
} from '../../protocol/ledger/json.ts';
import type { PayloadWithOutputs } from '../../protocol/ledger/payload.ts';
import type { CommandService } from '../commands/command-service.ts';
import { decimalJson } from '../execution/output.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { ServerSettings } from '../options.ts';
import type { CutPipeline } from '../p2p/cut-pipeline.ts';
import type { PeerClient, Peers } from '../p2p/peers.ts';
import type { Endpoint, Fault, Side } from './faults.ts';
import type { StreamTopic, UpdateStreams } from './streams.ts';

export interface NodeContent {
  readonly ledger: Ledger;
  readonly commands: CommandService;
  readonly peers: Peers;
  readonly peerClient: PeerClient;
  readonly cuts: CutPipeline;
  readonly servicePort: () => number;
}

export interface Backend extends NodeContent {
  readonly side: Side;
  readonly settings: ServerSettings;
  readonly miningEnabled: boolean;
  readonly streams: Pick<UpdateStreams, 'full' | 'wait'>;
}

export interface Asked {
  readonly backend: Backend;
  /** The number of an existing chain; 0 if the path has no chain. */
  readonly chain: number;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly body: Buffer;
  readonly accept: string | undefined;
  readonly dialect: Dialect;
  readonly fault: Fault | undefined;
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
}

export interface Route {
  readonly endpoint: Endpoint;
  readonly method: 'GET' | 'POST' | 'PUT';
  /**
   * Matches the path below the base URL, or with `atRoot` below the host's root. The group `chain` is the number of a
   * chain.
   */
  readonly path: RegExp;
  /** The API to which the route belongs; both by default. */
  readonly dialect?: Dialect;
  /** Whether `path` is below the host's root instead of the base URL. */
  readonly atRoot?: true;
  /** The side that serves the route; both by default. */
  readonly side?: 'service' | 'p2p';
  /** Whether the route exists at the moment; by default, it always does. */
  readonly when?: (backend: Backend) => boolean;
  /** The type of the request's body. Other types are refused with 415. */
  readonly takes?: string;
  /** The types of a successful answer. A client that accepts none of them is refused with 406. */
  readonly gives?: readonly string[];
  readonly answer: (asked: Asked) => Answer | Promise<Answer>;
}

export const OCTETS = 'application/octet-stream';
export const JSON_TYPE = 'application/json';

export const CHAIN = '/chain/(?<chain>\\d{1,9})';

export const NO_MORE_STREAMS: Message = {
  status: 503,
  text: 'No more update streams available currently. Retry later.',
};

/** @returns a 404 whose body names the missing key (document 1, "Not-found body") */
export function keyNotFound(key: string): Message {
  return { status: 404, json: { reason: 'key not found', key } };
}

/* Answers, and how they are sent with a node's headers. */

/** An answer with a complete body of text, bytes, or JSON with exact numbers. */
export type Message = {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Whether the answer lacks the node's headers, like the page of a captive portal, or a real node's refusal because of
   * too many requests (429).
   */
  readonly foreign?: boolean;
} & ({ readonly text: string } | { readonly bytes: Uint8Array } | { readonly json: ExactJson });

export type Answer = Message | { readonly stream: StreamTopic };

export const NODE_VERSION = '2.24.1';
const VERSION_HEADER = { document: 'x-ledger-node-version', chainweb: 'x-chainweb-node-version' } as const;

export interface NodeFacts {
  /** The node's clock: µs since the UNIX epoch. */
  readonly nowUs: bigint;
  readonly dialect: Dialect;
  /** Whether answers contain the client's address in `x-peer-addr`, as on the P2P side of real nodes. */
  readonly namesPeer: boolean;
  /** Whether web pages may read the answer, as on the service side of real nodes. */
  readonly isForPages: boolean;
}

export function sendMessage(response: ServerResponse, message: Message, facts: NodeFacts): void {
  response.end(writeHead(response, message, facts));
}

/** Sends the head and half of the body, and does not end the answer. */
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

/** Writes the head of an answer. @returns the body, which the caller must send */
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
  if ('json' in message) return ['application/json;charset=utf-8', stringifyExactJson(message.json)];
  if ('bytes' in message) return ['application/octet-stream', message.bytes];
  return ['text/plain;charset=utf-8', message.text];
}

/** @returns the headers that a node adds to each of its answers (document 1, "Conventions") */
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

/**
 * @returns the body; undefined if it has more than `most` bytes. A longer body is also read to its end, so that the
 *   client gets an answer
 */
export async function readBody(request: IncomingMessage, most: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.length;
    if (length <= most) chunks.push(chunk);
  }
  return length <= most ? Buffer.concat(chunks) : undefined;
}

/* Content negotiation, as in real nodes. */

/** The type of a body without a `content-type` (RFC 9110 §8.3). */
const DEFAULT_TYPE = 'application/octet-stream';

/** Whether a `content-type` has this type. Parameters are ignored. */
export function isOfType(contentType: string | undefined, type: string): boolean {
  return (contentType ?? DEFAULT_TYPE).split(';')[0].trim().toLowerCase() === type;
}

/**
 * @returns the type that an `accept` header prefers. If it prefers several types equally, the first of them in `types`.
 *   Undefined if it accepts none of `types`
 */
export function preferred(accept: string | undefined, types: readonly string[]): string | undefined {
  const weights = types.map((type) => weightOf(accept, type));
  const most = Math.max(...weights);
  return most > 0 ? types[weights.indexOf(most)] : undefined;
}

/** @returns the weight of a type in an `accept` header (RFC 9110 §12.5.1): the most specific matching range decides */
function weightOf(accept = '*/*', type: string): number {
  const wildcards = ['*/*', type.replace(/\/.*/, '/*'), type];
  const ranges = accept.split(',').map((range) => {
    const [name, ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1';
    return { precedence: wildcards.indexOf(name), weight: Number(weight) };
  });
  const matching = ranges.filter(({ precedence }) => precedence >= 0).sort((a, b) => b.precedence - a.precedence);
  return matching[0]?.weight || 0;
}

/* Headers that allow web pages to read the service side, as on real nodes (Fetch standard, "CORS protocol"). */

const ANY_ORIGIN = { 'access-control-allow-origin': '*' };
const PREFLIGHT = {
  ...ANY_ORIGIN,
  'access-control-allow-methods': 'GET, HEAD, POST',
  'access-control-allow-headers': 'Accept, Accept-Language, Content-Language, Content-Type',
};

/** @returns the headers that allow a web page to read the answer; none if the request is not from a page */
function corsHeaders({ headers }: IncomingMessage): Record<string, string> {
  return headers.origin === undefined ? {} : ANY_ORIGIN;
}

/** @returns the headers for a browser's preflight request; undefined for all other requests */
export function preflightHeaders({ method, headers }: IncomingMessage): Record<string, string> | undefined {
  const isPreflight = method === 'OPTIONS' && headers.origin !== undefined;
  if (!isPreflight || headers['access-control-request-method'] === undefined) return undefined;
  return PREFLIGHT;
}

/** @returns an integer >= 0 of at most 20 digits; undefined for any other text */
export function naturalFrom(text: string): bigint | undefined {
  return /^\d{1,20}$/.test(text) ? BigInt(text) : undefined;
}

/** Whether a text has the form of a hash: 43 characters of base64url. */
export function isHash(text: string): boolean {
  return opaqueId.safeParse(text).success;
}

/**
 * @param shouldBe what a valid body is, for the text of the answer 400
 * @returns the body's value; for an invalid body an answer with the status 400
 */
export function parsedBody<T>(schema: z.ZodType<T>, body: Buffer, shouldBe: string): { readonly value: T } | Message {
  try {
    return { value: schema.parse(JSON.parse(body.toString())) };
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof z.ZodError)) throw error;
    return { status: 400, text: `Error in $: the body is ${shouldBe}` };
  }
}

/* Answers that replace the true answer, for faults. */

const BUSY: Partial<Record<Endpoint, string>> = {
  work: 'Too many work requests',
  updates: 'No more update streams available currently. Retry later.',
};

/** @returns the answer of the fault; undefined if the fault does not replace the answer */
export function replacementOf(fault: Fault, endpoint: Endpoint): Message | undefined {
  switch (fault.kind) {
    case 'unavailable':
      return { status: 503, text: BUSY[endpoint] ?? 'Service Unavailable', headers: retryAfter(fault) };
    case 'status':
      return { status: fault.status, text: fault.text, headers: retryAfter(fault) };
    case 'wrong-length':
      return { status: 200, bytes: new Uint8Array(WORK_BYTES - 1) };
    case 'garbage':
      return { status: 200, text: '<html>\u0000{"not": what was asked for' };
    case 'long-body':
      return { status: 200, text: longJson(fault.bytes), headers: { 'content-type': 'application/json' } };
    case 'captive-portal':
      return {
        status: 200,
        text: '<html><title>Welcome to our network</title>Please log in.</html>',
        headers: { 'content-type': 'text/html' },
        foreign: true,
      };
    default:
      return undefined;
  }
}

function retryAfter({ retryAfterS }: Fault): Record<string, string> {
  return retryAfterS === undefined ? {} : { 'retry-after': String(retryAfterS) };
}

const OBJECT = '{"a":1},';

/** @returns a JSON list of `bytes` bytes. In a parser, its small objects take many times as much memory */
function longJson(bytes: number): string {
  return `[${OBJECT.repeat((bytes - '[{}]'.length) / OBJECT.length)}{}]`.padEnd(bytes);
}

/** @returns the payload to be sent. With the fault `wrong-reward`, its coinbase differs from the hashed coinbase */
export function answeredPayload(payload: PayloadWithOutputs, fault: Fault | undefined): PayloadWithOutputs {
  return fault?.kind === 'wrong-reward' ? { ...payload, coinbase: withMore(payload.coinbase) } : payload;
}

/** @returns the coinbase with one coin more; a coinbase without events gets another `result` instead */
function withMore(coinbase: Uint8Array): Uint8Array {
  const json = parseExactJsonBytes(coinbase);
  if (!isExactJsonObject(json)) return coinbase;
  const { events = [] } = json;
  const wrong =
    Array.isArray(events) && events.length > 0
      ? { ...json, events: events.map(eventWithMore) }
      : { ...json, result: { status: 'success', data: 'Write succeeded, and more' } };
  return Buffer.from(stringifyExactJson(wrong));
}

function eventWithMore(event: ExactJson): ExactJson {
  if (!isExactJsonObject(event) || !Array.isArray(event.params)) return event;
  const [sender, receiver, amount] = event.params;
  return { ...event, params: [sender, receiver, decimalJson(decimalOf(amount) + ONE)] };
}
