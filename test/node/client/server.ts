/** A small server on loopback whose answers a test sets, and clients of it. Both are closed after the test. */

import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { NodeApi, type NodeApiContext, type NodeApiOptions } from '#pickaxe/node/client/node-api.js';
import { NodeError } from '#pickaxe/node/http/node-error.js';
import type { Identity } from './certificates.ts';

/** A received request. */
export interface Seen {
  readonly method: string;
  /** The path with its query. */
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface Answer {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  /** Objects are sent as JSON. */
  readonly body?: unknown;
}

/** `silence` never answers, and `break` closes the connection. */
export type Behaviour = Answer | 'silence' | 'break';

export const DOCUMENT = { 'x-server-timestamp': '1800000000', 'x-ledger-node-version': '2.24.1' };
export const CHAINWEB = { 'x-server-timestamp': '1800000000', 'x-chainweb-node-version': '2.31' };

export interface Server {
  readonly url: string;
  readonly seen: Seen[];
}

export interface ServerOptions {
  /** The headers of every answer that sets none. */
  readonly headers?: Record<string, string>;
  readonly identity?: Identity;
  /** Any free one by default. */
  readonly port?: number;
}

/** @param answer gets the number of earlier requests; if it gives no answer, the server answers 404 */
export async function serve(
  answer: (request: Seen, before: number) => Behaviour | undefined,
  { headers = CHAINWEB, identity, port = 0 }: ServerOptions = {},
): Promise<Server> {
  const seen: Seen[] = [];
  const listener: RequestListener = async (request, response) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const it: Seen = {
      method: request.method!,
      path: request.url!,
      headers: request.headers,
      body: Buffer.concat(chunks).toString(),
    };
    const behaviour = answer(it, seen.length) ?? { status: 404 };
    seen.push(it);
    if (behaviour === 'silence') return;
    if (behaviour === 'break') return void request.socket.destroy();
    const { status = 200, body = '' } = behaviour;
    const text = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
    response.writeHead(status, behaviour.headers ?? headers).end(text);
  };
  const server = identity ? createTlsServer(identity, listener) : createServer(listener);
  server.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `${identity ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

/** Short limits and pauses. */
export const QUICK: NodeApiContext = {
  limits: { pauses: { firstMs: 1, mostMs: 2 }, freshPayloadPauseMs: 1 },
};

export function apiOf(options: Partial<NodeApiOptions>, surroundings: NodeApiContext = QUICK): NodeApi {
  const api = new NodeApi({ network: 'mainnet01', ...options }, surroundings);
  onTestFinished(() => api.close());
  return api;
}

/** A client of a server that answers everything in the same way. */
export async function apiWith(
  answer: (request: Seen, before: number) => Behaviour | undefined,
  options: Partial<NodeApiOptions> = {},
  serverOptions: ServerOptions = {},
): Promise<{ api: NodeApi; seen: Seen[] }> {
  const { url, seen } = await serve(answer, serverOptions);
  const segment = options.dialect === 'document' ? 'ledger' : 'chainweb';
  const path = `/${segment}/0.0/${options.network ?? 'mainnet01'}`;
  return { api: apiOf({ url: url + path, p2pUrl: url + path, ...options }), seen };
}

/** @returns the NodeError with which the promise fails */
export async function errorOf(promise: Promise<unknown>): Promise<NodeError> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof NodeError) return error;
    throw error;
  }
  throw new Error('there was no error');
}

export async function allOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}
