/** Searches for commands in chains of which nodes give true or false blocks: what is found, read and said. */

import { it } from 'vitest';
import { NEVER } from '#pickaxe/base/system/abort.js';
import { seededRandom } from '#pickaxe/mock-node/random.js';
import { NodeError } from '#pickaxe/node/http/node-error.js';
import { type BlockReader, findCommand, newestHeader } from '#pickaxe/node/sweep/linked-blocks.js';
import { weightAbove } from '#pickaxe/protocol/ledger/difficulty.js';
import { type BlockHeader, blockHash, checkWork } from '#pickaxe/protocol/ledger/header.js';
import { encodeBase64url } from '#pickaxe/protocol/ledger/json.js';
import type { PayloadWithOutputs, Proven } from '#pickaxe/protocol/ledger/payload.js';
import { type Recorded, recordIn, written } from '../../recorded.ts';
import { drawer } from '../../variants.ts';

const SEARCHES = 100;
const HEIGHT = 80n;
/** Creation time of the block of height 0, in seconds since 1970. */
const FIRST_S = 1_700_000_000;
const KEY = 'A'.repeat(43);
const hashed = new Uint8Array(32);

const expectRecorded = recordIn(new URL('linked-blocks-recorded.json', import.meta.url));
const timeAt = (height: number) => FIRST_S + 30 * height;
const bytes = (value: unknown) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));

/** @returns a header with a proof of its work */
function solved(header: BlockHeader): BlockHeader {
  for (let nonce = 0n; ; nonce++) {
    try {
      checkWork({ ...header, nonce });
      return { ...header, nonce };
    } catch {
      // The next nonce may do.
    }
  }
}

/** A chain with a block every 30 seconds and targets that change; the highest comes first. */
const chain: readonly BlockHeader[] = (() => {
  const headers: BlockHeader[] = [];
  for (let height = 0n; height <= HEIGHT; height++) {
    const parent = headers[0];
    const target = new Uint8Array(32).fill(255);
    // The heights from 40 to 59 take twice the work, and those from 56 on four times.
    target[31] = height < 40n || height >= 60n ? 255 : height < 56n ? 127 : 63;
    const header: BlockHeader = {
      featureFlags: 0n,
      creationTimeUs: BigInt(timeAt(Number(height))) * 1_000_000n,
      parent: parent ? blockHash(parent) : hashed,
      adjacents: [],
      target,
      payloadHash: hashed,
      chain: 0,
      weight: parent ? weightAbove(parent, target) : 0n,
      height,
      version: 1,
      epochStartUs: 0n,
      nonce: 0n,
    };
    headers.unshift(height > 0n ? solved(header) : header);
  }
  return headers;
})();

const result = (reqKey: string, status: 'success' | 'failure') => ({
  ...{ reqKey, gas: 7, txId: 1, logs: null, events: [], metaData: null, continuation: null },
  result: status === 'success' ? { status, data: 1 } : { status, error: { message: 'no', info: '', type: '' } },
});
const step1 = (pactId: string, step: number, rollback = false) => {
  const meta = { chainId: '0', sender: 'a', gasLimit: 600, gasPrice: 0.00000001, ttl: 600, creationTime: FIRST_S };
  const payload = { cont: { pactId, step, rollback, data: {}, proof: null } };
  return { cmd: JSON.stringify({ networkId: 'development', payload, signers: [], meta, nonce: '' }) };
};

/** Transactions and their outputs, by name. */
const CONTENTS: Readonly<Record<string, readonly (readonly [transaction: unknown, output: unknown])[]>> = {
  nothing: [],
  command: [
    [{}, result('B'.repeat(43), 'success')],
    [{}, result(KEY, 'success')],
  ],
  'failed command': [[{}, result(KEY, 'failure')]],
  'command that names it': [[{ KEY }, { ...result('B'.repeat(43), 'success'), logs: KEY }]],
  'malformed result': [[{}, { reqKey: KEY }]],
  'result that is a list': [[{}, [KEY]]],
  'step 1': [[step1(KEY, 1), result('C'.repeat(43), 'success')]],
  'failed step 1': [[step1(KEY, 1), result('C'.repeat(43), 'failure')]],
  'step 0': [[step1(KEY, 0), result('C'.repeat(43), 'success')]],
  rollback: [[step1(KEY, 1, true), result('C'.repeat(43), 'success')]],
  'step 1 of another': [[{ ...step1('D'.repeat(43), 1), KEY }, result('C'.repeat(43), 'success')]],
  'text with the key': [[`"${KEY}"`, result('C'.repeat(43), 'success')]],
  'wrong command with the key': [[{ cmd: KEY }, result('C'.repeat(43), 'success')]],
};

/** A payload without proof: only the client proves payloads, and there is no client here. */
function payloadOf(contents: string): Proven<PayloadWithOutputs> {
  const pairs = CONTENTS[contents];
  return {
    transactions: pairs.map(([transaction]) => bytes(transaction)),
    outputs: pairs.map(([, output]) => bytes(output)),
    minerData: hashed,
    coinbase: hashed,
    transactionsHash: hashed,
    outputsHash: hashed,
    payloadHash: hashed,
  } satisfies PayloadWithOutputs as PayloadWithOutputs as Proven<PayloadWithOutputs>;
}

type Forgery = (header: BlockHeader) => BlockHeader | undefined;
const LIES: Readonly<Record<string, Forgery>> = {
  none: (header) => header,
  'left out': () => undefined,
  'other nonce': (header) => ({ ...header, nonce: header.nonce + 1n }),
  'other height': (header) => ({ ...header, height: header.height + 1n }),
};
/** Tops of forged branches, which are linked, but break another rule. */
const TOPS: Readonly<Record<string, Forgery>> = {
  true: (header) => header,
  'as old as its parent': (header) => ({ ...header, creationTimeUs: header.creationTimeUs - 30_000_000n }),
  'too heavy': (header) => ({ ...header, weight: header.weight + 1n }),
  'without work': (header) => ({ ...header, target: hashed }),
};

it('searches find, read and say what is recorded', async () => {
  const one = drawer(seededRandom(5));
  const outcomes: Recorded[] = [];
  for (let i = 0; i < SEARCHES; i++) {
    // In half of the searches nothing is wrong, so that more is found.
    const isPlain = one(true, false);
    const what = one('command', 'command', 'step 1') as 'command' | 'step 1';
    const place = one(30, 40, 56, 59, 60, 70);
    const places = new Map([[BigInt(place), isPlain ? what : one(...Object.keys(CONTENTS))]]);
    const lie = isPlain ? 'none' : one('none', ...Object.keys(LIES));
    const top = isPlain ? 'true' : one('true', 'true', 'true', ...Object.keys(TOPS));
    const liesAt = BigInt(one(30, 45, 60, 78));
    const headers = chain.flatMap((header) => {
      if (header.height === HEIGHT) return TOPS[top](header) ?? [];
      return (header.height === liesAt ? LIES[lie](header) : header) ?? [];
    });
    const faults = ['half of the headers', 'no blocks'];
    const serves = one('all', 'all', 'all', 'no headers', 'blocks only', ...(isPlain ? [] : faults));
    const given = { headers: 0, blocks: 0 };
    async function* within(
      what: keyof typeof given,
      { minHeight = 0, maxHeight = HEIGHT }: Parameters<BlockReader['headerBranch']>[2] = {},
    ) {
      for (const header of headers) {
        if (header.height > maxHeight || header.height < minHeight) continue;
        given[what]++;
        yield header;
      }
    }
    const api: BlockReader = {
      network: one('mainnet01', 'mainnet01', 'development'),
      dialect: async () => (serves === 'blocks only' ? 'document' : 'chainweb'),
      async *headerBranch(_chain, _bounds, range) {
        if (serves === 'no headers') throw new NodeError('not found', 'no such path');
        for await (const header of within('headers', range)) {
          yield header;
          if (serves === 'half of the headers' && given.headers === 20) throw new NodeError('not found', 'gone');
        }
      },
      async *blockBranch(_chain, _bounds, range) {
        for await (const header of within('blocks', range)) {
          if (serves === 'no blocks' && header.height < 60n) continue;
          yield { header, payload: payloadOf(places.get(header.height) ?? 'nothing') };
        }
      },
    };
    const query = {
      what,
      key: KEY,
      madeS: timeAt(isPlain ? place - 1 : one(place - 1, place, 3, 39, 79)),
    } as const;
    const untilS = one(undefined, timeAt(one(41, 61, 75, 79, 80)), timeAt(place + 10), timeAt(80) + 1);
    const expiresS = untilS !== undefined && one(false, true) ? untilS - one(60, 300, 599) : undefined;
    const height = one(undefined, undefined, undefined, place, place, 30, 81, -1);
    const range = {
      ...(height !== undefined && { height }),
      ...(height === undefined && untilS !== undefined && { untilS }),
      ...(expiresS !== undefined && { expiresS }),
    };
    const most = isPlain ? 1_000n : one(1_000n, 50n);
    const limits = { headers: most, searched: one(most, 100n) };
    const branch = { chain: 0, head: { height: HEIGHT, hash: blockHash(headers[0]) } };
    let outcome: string;
    try {
      const { found, block, newest, work } = await findCommand(api, branch, query, range, NEVER, limits);
      const head = await newestHeader(api, branch, NEVER);
      outcome = written([found, block, newest.height, work, head.height, given]);
    } catch (fault) {
      outcome = written([(fault as Error).name, (fault as Error).message, given]);
    }
    const how = [...places, lie, liesAt, top, serves, api.network, encodeBase64url(branch.head.hash)];
    outcomes.push({ input: written([i, how, query, range, limits]), outcome });
  }
  expectRecorded('searches', outcomes);
});
