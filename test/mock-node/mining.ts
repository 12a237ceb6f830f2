/** A mock node, and requests of miners to it (document 1). */

import { request } from 'undici';
import { onTestFinished } from 'vitest';
import type { MockNodeContext } from '#pickaxe/mock-node/mock-node.js';
import { parseWork, type Work } from '#pickaxe/protocol/chain/work.js';
import type { Dialect } from '#pickaxe/protocol/ledger/header.js';
import { MockNode, type OtherOptions } from './node.ts';

const KEY = 'ab'.repeat(32);
export const MINER = { account: `k:${KEY}`, predicate: 'keys-all' as const, 'public-keys': [KEY] };
export const OCTETS = 'application/octet-stream';

/** @returns a function that starts nodes with this dialect of the API only */
export function miningOf(dialect: Dialect) {
  return (options: OtherOptions = {}, surroundings: MockNodeContext = {}) =>
    startMining(dialect, options, surroundings);
}

async function startMining(dialect: Dialect, options: OtherOptions, surroundings: MockNodeContext) {
  const node = new MockNode({ dialect, difficulty: 100, seed: 1, ...options }, surroundings);
  onTestFinished(() => node.close());
  const { url, baseUrl } = await node.start();
  const ask = async (path: string, more: Parameters<typeof request>[1] = {}, base = baseUrl) => {
    const { statusCode, headers, body } = await request(base + path, more);
    return { status: statusCode, headers, body: Buffer.from(await body.arrayBuffer()) };
  };
  const getWork = (body: unknown = MINER, headers: Record<string, string> = {}, base = baseUrl) =>
    ask(
      '/mining/work',
      {
        method: 'GET',
        body: typeof body === 'string' ? body : JSON.stringify(body),
        headers: { 'content-type': 'application/json', accept: OCTETS, ...headers },
      },
      base,
    );
  const work = async (): Promise<Work> => parseWork((await getWork()).body);
  const submit = async (header: Uint8Array, headers: Record<string, string> = { 'content-type': OCTETS }) => {
    const answer = await ask('/mining/solved', { method: 'POST', body: header, headers });
    return { status: answer.status, text: answer.body.toString() };
  };
  const updates = async (body: Uint8Array, headers: Record<string, string> = { 'content-type': OCTETS }) => {
    const response = await request(`${baseUrl}/mining/updates`, { method: 'GET', body, headers });
    onTestFinished(() => void response.body.on('error', () => {}).destroy());
    return response;
  };
  return { node, url, baseUrl, ask, getWork, work, submit, updates };
}

export const chainBytes = (chain: number) => Uint8Array.of(chain, 0, 0, 0);
