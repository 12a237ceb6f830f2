/** What nodes and senders say, with parts left out, doubled or exchanged: what is read, or why it is refused. */

import { describe, it } from 'vitest';
import { seededRandom } from '#pickaxe/mock-node/random.js';
import { blockReader, headerOf } from '#pickaxe/node/client/blocks.js';
import { pageOf } from '#pickaxe/node/client/collection-pages.js';
import { infoFromJson } from '#pickaxe/node/client/info.js';
import { parseCommand } from '#pickaxe/protocol/ledger/command/command.js';
import { parsePayload } from '#pickaxe/protocol/ledger/command/command-payload.js';
import {
  parseListenAnswer,
  parseLocalAnswer,
  parsePollAnswer,
  parseProofAnswer,
  parseSendAnswer,
} from '#pickaxe/protocol/ledger/command/results.js';
import { cutFromJson, peerFromJson } from '#pickaxe/protocol/ledger/cut.js';
import { knownGraph } from '#pickaxe/protocol/ledger/graphs.js';
import {
  type ExactJson,
  LedgerFormatError,
  parseExactJson,
  stringifyExactJson,
} from '#pickaxe/protocol/ledger/json.js';
import {
  parseCoinbase,
  parseMiner,
  payloadFromJson,
  payloadWithOutputsFromJson,
} from '#pickaxe/protocol/ledger/payload.js';
import { bare, blockJson, wholeBlocks } from '../../node/client/rows.ts';
import { type Recorded, recordIn, written } from '../../recorded.ts';
import { changed } from '../../variants.ts';
import { commands, results } from './command-vectors.ts';
import { cuts, headers } from './vectors.ts';

const VARIANTS = 80;

const [whole] = wholeBlocks;
const { chain } = whole.header;
const plain = (json: ExactJson): unknown => JSON.parse(stringifyExactJson(json));
const text = (read: (text: string) => unknown) => (json: ExactJson) => read(stringifyExactJson(json));
const bytes = (read: (bytes: Uint8Array) => unknown) => text((json) => read(Buffer.from(json)));

const { hashes, ...ofCut } = cuts[0];
const info = {
  nodeVersion: 'mainnet01',
  nodeApiVersion: '0.0',
  nodePackageVersion: '2.24.1',
  nodeNumberOfChains: 10,
  nodeChains: Array.from({ length: 10 }, (_, i) => `${i}`),
  nodeGraphHistory: [[0, knownGraph(10)!.map((neighbours, at) => [at, neighbours])]],
  nodeLatestBehaviorHeight: 5_000_000,
};
const miner = { account: 'k:a', predicate: 'keys-all', 'public-keys': ['a'] };
const coinbase = {
  gas: 0,
  result: { status: 'success', data: 'Write succeeded' },
  reqKey: 'A'.repeat(43),
  logs: null,
  events: [],
  txId: 1,
};

/** By name: what is right, and what reads it. */
const READERS: Readonly<Record<string, readonly [right: unknown, read: (json: ExactJson) => unknown]>> = {
  cut: [{ ...ofCut, hashes: Object.fromEntries(Object.entries(hashes).slice(0, 3)) }, cutFromJson],
  peer: [{ id: 'A'.repeat(43), address: { hostname: '10.1.2.3', port: 1789 } }, peerFromJson],
  header: [JSON.parse(headers[0].json), (json) => headerOf(json, { chain: headers[0].chain })],
  page: [{ items: [whole.binary], limit: 1, next: 'inclusive:x' }, pageOf((json) => headerOf(json, { chain }))],
  block: [JSON.parse(blockJson(whole, 'chainweb')), blockReader({ chain })],
  payload: [bare(whole.payload), payloadFromJson],
  'payload with outputs': [whole.payload, payloadWithOutputsFromJson],
  miner: [miner, bytes(parseMiner)],
  coinbase: [coinbase, bytes(parseCoinbase)],
  info: [info, infoFromJson],
  command: [commands[0].command, parseCommand],
  'content of a command': [JSON.parse(commands[0].command.cmd), text(parsePayload)],
  local: [plain(results.local), parseLocalAnswer],
  send: [plain(results.send), parseSendAnswer],
  poll: [plain(results.poll), parsePollAnswer],
  listen: [plain(results.listen), parseListenAnswer],
  proof: ['abc', parseProofAnswer],
};

const expectRecorded = recordIn(new URL('recorded.json', import.meta.url));

describe('variants have the recorded outcome of', () => {
  it.each(Object.entries(READERS))('%s', (name, [right, read]) => {
    const random = seededRandom(7 * VARIANTS + name.length);
    const variants = Array.from({ length: VARIANTS }, () => JSON.stringify(changed(right, random)));
    const outcomes = [...new Set([JSON.stringify(right), ...variants])].map((input): Recorded => {
      try {
        return { input, outcome: written(read(parseExactJson(input))) };
      } catch (fault) {
        if (!(fault instanceof LedgerFormatError)) throw fault;
        return { input, outcome: `${fault.name}: ${fault.message}` };
      }
    });
    expectRecorded(name, outcomes);
  });
});
