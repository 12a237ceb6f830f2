/** Which cuts of other nodes are processed, and how far their blocks are followed: without whole nodes. */

import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Chains } from '#pickaxe/mock-node/ledger/chains.js';
import type { Ledger } from '#pickaxe/mock-node/ledger/ledger.js';
import { CutFetcher, CutPipeline } from '#pickaxe/mock-node/p2p/cut-pipeline.js';
import { type PeerClient, PeerError, Peers } from '#pickaxe/mock-node/p2p/peers.js';
import type { Cut, Peer } from '#pickaxe/protocol/ledger/cut.js';
import { encodeBase64url } from '#pickaxe/protocol/ledger/json.js';
import { PATIENCE } from '../../patience.ts';
import { chainsOf, grow, NOW_US } from '../ledger/nodes.ts';

const nodeAt = (port: number): Peer => ({ id: null, address: { hostname: '127.0.0.1', port } });

describe('a cut of three chains', () => {
  it.each([
    ['as high as the own one', {}, 'is old: no chain is higher in it'],
    ['that is lower on all', { above: [-1n, -1n, -1n] }, 'is old: no chain is higher in it'],
    ['that is higher on one', { above: [0n, 0n, 1n] }, 'port 7 has not got it'],
    ['that is higher on one and lower on the other', { above: [1n, -1n, 0n] }, /^cut\.hashes: /],
    ['that is 19 blocks ahead', { above: [19n, 19n, 19n] }, 'port 7 has not got it'],
    ['that is 20 blocks ahead', { above: [19n, 20n, 19n] }, 'is 20 blocks or more ahead'],
    ['with a wrong height', { above: [1n, 1n, 1n], more: 1n }, /^cut\.height: is \d+, but the heights add up to \d+$/],
    ['of another network', { above: [1n, 1n, 1n], network: 'mainnet01' }, 'is of mainnet01'],
    ['of the own network', { above: [1n, 1n, 1n], network: 'development' }, 'port 7 has not got it'],
    ['of no network', { above: [1n, 1n, 1n], network: undefined }, 'port 7 has not got it'],
    ['with an origin', { above: [1n, 1n, 1n], origin: nodeAt(8) }, 'port 7 has not got it', [8, 7]],
  ])('%s', async (_, { above = [0n, 0n, 0n], more = 0n, ...rest }: Some, reason, asked: readonly number[] = [7]) => {
    const chains = chainsOf({ chains: 3 });
    const ledger = { settings: { network: 'development' }, chains } as unknown as Ledger;
    const peers = new Peers();
    peers.add('cut', nodeAt(7));
    const ports: number[] = [];
    const client = {
      askPatiently: async ({ address: { port } }: Peer) => {
        ports.push(port);
        throw new PeerError(`port ${port} has not got it`);
      },
    } as unknown as PeerClient;
    const reasons: string[] = [];
    const pipeline = new CutPipeline(ledger, peers, client, (event) => reasons.push(event.reason));
    const heads = above.map((by, chain) => [chain, { height: chains.heightOf(chain) + by, hash: Buffer.alloc(32, 1) }]);
    const height = above.reduce((sum, by, chain) => sum + by + chains.heightOf(chain), more);
    pipeline.take({ network: 'development', origin: null, ...rest, heads: new Map(heads as never), height } as never);
    await vi.waitFor(() => expect(reasons).toHaveLength(1), PATIENCE);
    expect(reasons[0]).toEqual(reason instanceof RegExp ? expect.stringMatching(reason) : reason);
    expect(ports).toEqual(reason === 'port 7 has not got it' ? asked : []);
  });
});

interface Some {
  readonly network?: string | undefined;
  readonly origin?: Peer;
  /** By how many blocks each chain is above the own one. */
  readonly above?: readonly bigint[];
  /** By how much the cut's height is wrong. */
  readonly more?: bigint;
}

const BRANCH = 201;
let theirs: Chains | undefined;

/** @returns the chain of a node with as many blocks of its own as `BRANCH` says */
function branchOfNode(): Chains {
  if (!theirs) {
    theirs = chainsOf({ chains: 1 }, 8);
    for (let i = 0n; i < BRANCH; i++) grow(theirs, 0, NOW_US + i);
  }
  return theirs;
}

/**
 * Fetches the node's branch.
 * @param length number of blocks of the branch
 * @param pageSize number of headers of a page
 * @param onAsked called with the path of each request
 */
async function fetchBranch(length: number, pageSize: number, onAsked: (path: string) => void): Promise<unknown> {
  const store = branchOfNode().blocksOf(0);
  const client: Pick<PeerClient, 'askPatiently'> = {
    askPatiently: async (_, { path, body }) => {
      onAsked(path);
      if (body === undefined) throw new PeerError('asked for a payload');
      const { upper } = JSON.parse(body);
      const items = [...store.ancestry(store.get(upper[0])!)]
        .slice(0, pageSize)
        .map(({ bytes, hash }) => encodeBase64url(Buffer.concat([bytes, hash])));
      return { status: 200, headers: {}, body: Buffer.from(JSON.stringify({ items, next: null })) };
    },
  };
  const ledger = { chains: chainsOf({ chains: 1 }, 7), nowUs: () => NOW_US } as unknown as Ledger;
  const { header, hash } = [...store.ancestry(store.tip)][BRANCH - length];
  const cut = { heads: new Map([[0, { height: header.height, hash }]]) } as unknown as Cut;
  return new CutFetcher(ledger, client as PeerClient, [nodeAt(1)]).fetch(cut);
}

it('a node that answers slowly is not waited for longer than a minute', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  let asked = 0;
  const slowly = () => {
    asked++;
    vi.advanceTimersByTime(25_000);
  };
  await expect(fetchBranch(5, 1, slowly)).rejects.toThrow('the peers took more than 60 s');
  expect(asked).toBe(3);
});

it('a branch that left the own one long ago is not followed, however long the pages of its node are', async () => {
  const asked: string[] = [];
  const note = (path: string) => void asked.push(path);
  await expect(fetchBranch(201, 300, note)).rejects.toThrow('chain 0 has left the own branch long ago');
  expect(asked).toEqual(['/chain/0/header/branch']);
  // A shorter one is followed: the payloads of its blocks are asked for.
  await expect(fetchBranch(200, 300, note)).rejects.toThrow('asked for a payload');
  expect(asked[2]).toMatch(/^\/chain\/0\/payload\/[\w-]{43}\/outputs\?height=\d+$/);
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

it.each([
  ['nobody', [], 'there is nobody to ask'],
  ['a node that refuses', [404], '/chain/0/header/branch: 404'],
  ['two nodes that refuse', [404, 503], '/chain/0/header/branch: 503'],
  ['a node without the block', [200], /^the peers have no block A{43}$/],
])('blocks are missing where there is %s to ask', async (_, statuses, reason) => {
  const left = [...statuses];
  const body = Buffer.from('{"items":[],"next":null}');
  const client = { askPatiently: async () => ({ status: left.shift(), headers: {}, body }) } as unknown as PeerClient;
  const ledger = { chains: chainsOf({ chains: 1 }), nowUs: () => NOW_US } as unknown as Ledger;
  const heads = new Map([[0, { height: 9n, hash: Buffer.alloc(32) }]]);
  const fetcher = new CutFetcher(ledger, client, statuses.map(nodeAt));
  await expect(fetcher.fetch({ heads } as unknown as Cut)).rejects.toThrow(reason);
});
