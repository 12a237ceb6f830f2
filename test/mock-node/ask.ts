/** A mock node, and requests to it whose answers keep their numbers exact. */

import { Agent, request } from 'undici';
import { onTestFinished } from 'vitest';
import type { MockNodeContext } from '#pickaxe/mock-node/mock-node.js';
import type { Dialect } from '#pickaxe/protocol/ledger/header.js';
import { type ExactJson, isExactJsonObject, JsonNumber, parseExactJson } from '#pickaxe/protocol/ledger/json.js';
import { MockNode, type OtherOptions } from './node.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly text: string;
  /** The parsed body, with plain numbers. */
  readonly plain: never;
  readonly json: ExactJson;
  readonly bytes: Uint8Array;
}

export interface AskOptions {
  readonly method?: 'GET' | 'POST' | 'PUT';
  readonly body?: unknown;
  readonly accept?: string;
}

/** @returns a function that starts nodes with this dialect of the API only */
export function mocksOf(dialect: Dialect) {
  return (options: OtherOptions = {}, surroundings: MockNodeContext = {}) => startMock(dialect, options, surroundings);
}

async function startMock(dialect: Dialect, options: OtherOptions, surroundings: MockNodeContext) {
  const node = new MockNode({ dialect, seed: 1, difficulty: 1, ...options }, surroundings);
  const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
  onTestFinished(async () => {
    await dispatcher.destroy();
    await node.close();
  });
  const address = await node.start();
  const askUrl = async (url: string, { method = 'GET', body, accept }: AskOptions = {}): Promise<Answer> => {
    const headers = {
      ...(accept !== undefined && { accept }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    };
    const sent = body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body);
    // Each request has a connection of its own: a server may end an idle one at the moment in which it is used again.
    const response = await request(url, { method, body: sent, headers, dispatcher, reset: true });
    const bytes = new Uint8Array(await response.body.arrayBuffer());
    const text = Buffer.from(bytes).toString();
    const isJson = response.headers['content-type']?.includes('json');
    return {
      status: response.statusCode,
      headers: response.headers,
      text,
      bytes,
      // Parsed on access: a node that throttles sends a body that is not JSON with the type of JSON.
      get json() {
        return isJson ? parseExactJson(text) : null;
      },
      get plain() {
        return (isJson ? JSON.parse(text) : undefined) as never;
      },
    };
  };
  const ask = (path: string, more?: AskOptions) => askUrl(address.baseUrl + path, more);
  const { pathname } = new URL(address.baseUrl);
  const p2p = (path: string, more?: AskOptions) => askUrl(address.p2pUrl + pathname + path, more);
  /** Adds some blocks to every chain. */
  const grow = (blocks: number) => {
    for (let i = 0; i < blocks; i++) for (const chain of node.ledger.chains.graph.keys()) node.ledger.advance(chain);
  };
  const tip = (chain: number) => node.ledger.chains.tip(chain);
  return { node, ...address, askUrl, ask, p2p, grow, tip };
}

/** @returns the value at a path of keys. A number is returned as text */
export function at(json: ExactJson, ...path: readonly string[]): unknown {
  const value = path.reduce<ExactJson | undefined>(
    (it, key) => (it !== undefined && isExactJsonObject(it) ? it[key] : undefined),
    json,
  );
  return value instanceof JsonNumber ? value.text : value;
}
