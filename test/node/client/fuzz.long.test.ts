/** Tests that each call ends with one clear error or with the requested data, whatever a node answers. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { blockReader, headerOf } from '#pickaxe/node/client/blocks.js';
import { pageOf } from '#pickaxe/node/client/collection-pages.js';
import { infoFromJson } from '#pickaxe/node/client/info.js';
import type { NodeApi } from '#pickaxe/node/client/node-api.js';
import { NodeError } from '#pickaxe/node/http/node-error.js';
import { knownGraph } from '#pickaxe/protocol/ledger/graphs.js';
import { type ExactJson, parseExactJson } from '#pickaxe/protocol/ledger/json.js';
import { cases } from '../../cases.ts';
import { almost } from '../../protocol/ledger/arbitraries.ts';
import { commands, results } from '../../protocol/ledger/command-vectors.ts';
import { damagedText, refusalOf } from '../../protocol/ledger/damage.ts';
import { cuts, headers } from '../../protocol/ledger/vectors.ts';
import { bare, blockJson, wholeBlocks } from './rows.ts';
import { allOf, apiWith } from './server.ts';

const [whole] = wholeBlocks;
const { chain, payloadHash } = whole.header;
const [{ command }] = commands;
const key = command.hash;
const graph = knownGraph(3)!;

const info = {
  nodeVersion: 'mainnet01',
  nodeApiVersion: '0.0',
  nodeNumberOfChains: 3,
  nodeChains: ['0', '1', '2'],
  nodeGraphHistory: [[0, graph.map((neighbours, at) => [at, neighbours])]],
};
const page = { items: [whole.binary], limit: 1, next: null };
const block = blockJson(whole, 'chainweb');

describe('junk is refused by the reader of', () => {
  it.each([
    ['pages', page, pageOf((json) => headerOf(json, { chain }))],
    ['node information', info, infoFromJson],
    ['whole blocks', JSON.parse(block), blockReader({ chain })],
    ['headers', JSON.parse(headers[0].json), (json: ExactJson) => headerOf(json, { chain: 0 })],
  ] as const)('%s', (_, right, read: (json: ExactJson) => unknown) => {
    fc.assert(
      fc.property(almost(right), (text) => void refusalOf(() => read(parseExactJson(text)))),
      { numRuns: cases(500) },
    );
  });

  it('blocks with a character changed', () => {
    const read = blockReader({ chain });
    const right = JSON.stringify(read(parseExactJson(block)), (_, it) => (typeof it === 'bigint' ? `${it}` : it));
    for (const text of damagedText(block, 97)) {
      let changed: unknown;
      if (refusalOf(() => (changed = read(parseExactJson(text))))) continue;
      expect(JSON.stringify(changed, (_, it) => (typeof it === 'bigint' ? `${it}` : it))).toBe(right);
    }
  });
});

describe('junk from a node is one error of', () => {
  const hash = new Uint8Array(32);
  const calls: Record<string, (api: NodeApi) => Promise<unknown>> = {
    cut: (api) => api.cut(),
    peers: (api) => allOf(api.peers()),
    mempoolPeers: (api) => allOf(api.mempoolPeers(1)),
    payload: (api) => api.payload(chain, payloadHash),
    payloadWithOutputs: (api) => api.payloadWithOutputs(chain, payloadHash),
    payloads: (api) => api.payloads(chain, [{ payloadHash, height: 1 }]),
    blocks: (api) => allOf(api.blocks(chain)),
    blockBranch: (api) => allOf(api.blockBranch(chain, { upper: [hash] })),
    hashes: (api) => allOf(api.hashes(chain)),
    hashBranch: (api) => allOf(api.hashBranch(chain, { upper: [hash] })),
    header: (api) => api.header(chain, hash),
    headers: (api) => allOf(api.headers(chain)),
    headerBranch: (api) => allOf(api.headerBranch(chain, { upper: [hash] })),
    config: (api) => api.config(),
    info: (api) => api.info(),
    local: (api) => api.local(0, command),
    send: (api) => api.send(0, [command]),
    poll: (api) => api.poll(0, [key]),
    listen: (api) => api.listen(0, key),
    sendPrivate: (api) => api.sendPrivate(0, command),
    proof: (api) => api.proof(0, key, 1),
  };
  const right = [cuts[0], page, bare(whole.payload), whole.payload, info, results.local, { requestKeys: [key] }];
  const statuses = fc.constantFrom(200, 200, 200, 204, 301, 400, 404, 503);
  const bodies = fc.oneof(
    fc.constantFrom('[[['.repeat(1000), '{"a":'.repeat(300), '"', '1e999999', '{"__proto__":{"height":1}}'),
    fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
    ...right.map((each) => almost(each)),
  );

  it.each(Object.keys(calls))('%s', async (name) => {
    let answer: { status: number; body: unknown } = { status: 200, body: '' };
    const { api } = await apiWith(() => answer);
    for (const [status, body] of fc.sample(fc.tuple(statuses, bodies), 40)) {
      answer = { status, body };
      try {
        await calls[name](api);
      } catch (error) {
        expect(error).toBeInstanceOf(NodeError);
        expect((error as NodeError).message).toMatch(/^[^\p{C}]{10,600}$/u);
      }
    }
  });
});
