/**
 * The bounds on what others can make the mock node keep: commands, waiting requests, peers, and the blocks of a cut.
 */

import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { readCommand } from '#pickaxe/mock-node/commands/command-checks.js';
import { Mempool } from '#pickaxe/mock-node/commands/mempool.js';
import { ChainState } from '#pickaxe/mock-node/execution/chain-state.js';
import type { Ledger } from '#pickaxe/mock-node/ledger/ledger.js';
import { CutFetcher, CutPipeline } from '#pickaxe/mock-node/p2p/cut-pipeline.js';
import { type PeerClient, Peers } from '#pickaxe/mock-node/p2p/peers.js';
import { seededRandom } from '#pickaxe/mock-node/random.js';
import { parseCommand } from '#pickaxe/protocol/ledger/command/command.js';
import type { Cut, Peer } from '#pickaxe/protocol/ledger/cut.js';
import { encodeBase64url } from '#pickaxe/protocol/ledger/json.js';
import { PATIENCE } from '../patience.ts';
import { arrival, banksOf, commandOf, toBob } from './execution/bank.ts';
import { chainsOf, grow, NOW_US } from './ledger/nodes.ts';

const startBank = banksOf('chainweb');

const { payload } = readCommand({ ...commandOf(0, toBob('1.0')) } as never);
const NOBODY = new ChainState();

/** A command of about this number of bytes. Only its size matters to a mempool. */
function sized(number: number, bytes: number) {
  const hash = encodeBase64url(Buffer.alloc(32, number));
  return parseCommand({ cmd: 'x'.repeat(bytes), hash, sigs: [] });
}

describe('the commands that wait on a chain', () => {
  it('have a number of bytes at most, and the oldest is forgotten first', () => {
    const mempool = new Mempool(seededRandom(1));
    const add = (number: number) => mempool.add(3, sized(number, 1_000_000), payload);
    const has = (number: number) => mempool.has(3, sized(number, 1).hash);
    for (let number = 1; number <= 8; number++) add(number);
    expect([1, 8].map(has)).toEqual([true, true]);
    // The same command again takes no more room.
    for (let i = 0; i < 5; i++) add(1);
    expect([1, 2, 8].map(has)).toEqual([true, true, true]);
    add(9);
    expect([2, 3, 1, 9].map(has)).toEqual([false, true, true, true]);
    // Dropping a command makes room.
    mempool.drop(3, sized(3, 1).hash);
    add(10);
    expect([4, 10].map(has)).toEqual([true, true]);
    mempool.add(4, sized(1, 1_000_000), payload);
    expect(has(4)).toBe(true);
  });

  it('are ten thousand at most', () => {
    const mempool = new Mempool(seededRandom(1));
    const hashOf = (number: number) => encodeBase64url(Buffer.from(String(number).padStart(32, '0')));
    for (let number = 0; number < 10_010; number++) {
      mempool.add(0, { cmd: '', hash: hashOf(number), sigs: [] }, payload);
    }
    expect([9, 10, 10_009].map((number) => mempool.has(0, hashOf(number)))).toEqual([false, true, true]);
  });

  it('are so many in a block that their bytes have a bound, too', () => {
    const mempool = new Mempool(seededRandom(1));
    const sizes = [150_000, 150_000, 150_000, 1_000, 350_000, 2_000];
    for (const [number, bytes] of sizes.entries()) mempool.add(0, sized(number, bytes), payload);
    const block = mempool.forBlock(0, NOBODY, 0n).map(({ command }) => command.cmd.length);
    expect(block).toEqual([150_000, 150_000, 1_000, 2_000]);
    for (let number = 10; number < 130; number++) mempool.add(1, sized(number, 10), payload);
    expect(mempool.forBlock(1, NOBODY, 0n)).toHaveLength(100);
  });

  it('are each no larger than their gas allows', async () => {
    const { send } = await startBank();
    const withData = (bytes: number, gasLimit: number) => {
      const message = { exec: { code: '(coin.details "x")', data: { x: 'x'.repeat(bytes) } } };
      return commandOf(0, { message, capabilities: [] }, { meta: { gasLimit } });
    };
    const tooBig = /Failed to purchas gas: tx too big for gas limit$/;
    expect((await send(0, withData(100_000, 1_000))).text).toMatch(tooBig);
    expect((await send(0, withData(100_000, 1_200))).status).toBe(200);
    expect((await send(0, withData(300_000, 150_000))).text).toMatch(tooBig);
    // Proofs cost no gas for their size, but their size has a bound.
    const withProof = (bytes: number) => commandOf(0, arrival('A'.repeat(43), 'A'.repeat(bytes)));
    expect((await send(0, withProof(250_000))).status).toBe(200);
    expect((await send(0, withProof(300_000))).text).toMatch(tooBig);
  });
});

/**
 * Fetches a cut of 300 blocks from a node.
 * @param pageSize number of headers of a page
 * @param onAsked called with the path of each request
 */
async function fetchLong(pageSize: number, onAsked: (path: string) => void): Promise<unknown> {
  const [ours, theirs] = [chainsOf({ chains: 1 }, 7), chainsOf({ chains: 1 }, 8)];
  for (let i = 0n; i < 300n; i++) grow(theirs, 0, NOW_US + i);
  const client: Pick<PeerClient, 'askPatiently'> = {
    askPatiently: async (_, { path, body }) => {
      onAsked(path);
      const { upper } = JSON.parse(body!);
      const blocks = theirs.blocksOf(0).ancestry(theirs.blocksOf(0).get(upper[0])!);
      const items = [...blocks]
        .slice(0, pageSize)
        .map(({ bytes, hash }) => encodeBase64url(Buffer.concat([bytes, hash])));
      return { status: 200, headers: {}, body: Buffer.from(JSON.stringify({ items, next: null })) };
    },
  };
  const source: Peer = { id: null, address: { hostname: '127.0.0.1', port: 1 } };
  const ledger = { chains: ours, nowUs: () => NOW_US } as unknown as Ledger;
  const { header, hash } = theirs.tip(0);
  const cut = { heads: new Map([[0, { height: header.height, hash }]]) } as unknown as Cut;
  return new CutFetcher(ledger, client as PeerClient, [source]).fetch(cut);
}

it('a node that answers slowly is not waited for longer than a minute', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  let asked = 0;
  const slowly = () => {
    asked++;
    vi.advanceTimersByTime(25_000);
  };
  await expect(fetchLong(1, slowly)).rejects.toThrow('the peers took more than 60 s');
  expect(asked).toBe(3);
});

it('a branch that left the own one long ago is not followed, however long the pages of its node are', async () => {
  const asked: string[] = [];
  await expect(fetchLong(300, (path) => void asked.push(path))).rejects.toThrow('has left the own branch long ago');
  expect(asked).toEqual(['/chain/0/header/branch']);
});

it('a hundred cuts wait at most, and one with too many heads does not', async () => {
  const ledger = { settings: { network: 'development' }, chains: chainsOf({ chains: 1 }) } as unknown as Ledger;
  const reasons: string[] = [];
  const pipeline = new CutPipeline(ledger, new Peers(), {} as PeerClient, ({ reason }) => reasons.push(reason));
  const cut = (heads: number) => {
    const of = new Map(Array.from({ length: heads }, (_, chain) => [chain, {}]));
    return { network: 'mainnet01', origin: null, heads: of } as unknown as Cut;
  };
  const take = (count: number) => {
    for (let i = 0; i < count; i++) pipeline.take(cut(1));
  };
  take(99);
  pipeline.take(cut(2));
  take(2);
  await vi.waitFor(() => expect(reasons).toHaveLength(101), PATIENCE);
  expect(reasons[0]).toBe('has more heads than there are chains');
  expect(new Set(reasons.slice(1))).toEqual(new Set(['is of mainnet01']));
  // Cuts that were processed make room for others.
  take(100);
  await vi.waitFor(() => expect(reasons).toHaveLength(201), PATIENCE);
});
