/**
 * Nodes that publish their cuts to each other. A node that gets a cut fetches its blocks, checks them, and joins what
 * is heavier.
 */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { type Clock, systemClock } from '#pickaxe/base/system/clock.js';
import type { MockNodeEvent } from '#pickaxe/mock-node/mock-node.js';
import { type Cut, cutFromJson, cutToJson, type Peer } from '#pickaxe/protocol/ledger/cut.js';
import type { Dialect } from '#pickaxe/protocol/ledger/header.js';
import { encodeBase64url, stringifyExactJson } from '#pickaxe/protocol/ledger/json.js';
import { eventually } from '../miner/source/follow.ts';
import { ALICE, alice, banksOf, bob, coins, commandOf, toBob } from './execution/bank.ts';
import { DIALECTS, type OtherOptions } from './node.ts';

const GUARD = { predicate: 'keys-all', publicKeys: [ALICE.publicKey] };
const SAME = { p2p: 'tls', reward: '2.0' } as const;
/** Time of the first blocks of all networks of a test. A node refuses commands that are much newer than its blocks. */
let firstBlockTimeMs = 0;
beforeEach(() => {
  firstBlockTimeMs = Date.now() - 30_000;
});

interface NetworkOptions extends OtherOptions {
  readonly dialect?: Dialect;
}

/** Nodes with the same first blocks, each of which knows the others as peers. */
async function startNetwork(
  size: number,
  { dialect = 'chainweb', ...options }: NetworkOptions = {},
  clock: Clock = systemClock,
) {
  const nodes = [];
  for (let i = 0; i < size; i++) {
    const events: MockNodeEvent[] = [];
    const bank = await banksOf(dialect)(
      { ...SAME, firstBlockTimeMs, ...options },
      { clock, onEvent: (event) => void events.push(event) },
    );
    nodes.push({ ...bank, events });
  }
  for (const { node } of nodes) for (const other of nodes) node.peers.add('cut', other.node.peers.own!);
  return nodes;
}

type Node = Awaited<ReturnType<typeof startNetwork>>[number];

const cutOf = async ({ ask }: Node): Promise<Cut> => cutFromJson((await ask('/cut')).json);
const idOf = async (node: Node) => (await cutOf(node)).id;

async function publish(cut: Cut, { p2p }: Node): Promise<void> {
  const answer = await p2p('/cut', { method: 'PUT', body: stringifyExactJson(cutToJson(cut)) });
  expect(answer).toMatchObject({ status: 204, text: '' });
}

const reasons = ({ events }: Node) => events.flatMap((event) => (event.type === 'cut dropped' ? [event.reason] : []));

describe('a cut that is published', () => {
  it.each(DIALECTS)(
    'is taken by a node of the dialect %s, with its blocks, transactions and balances',
    async (dialect) => {
      const [a, b] = await startNetwork(2, { dialect });
      await a.send(0, commandOf(0, toBob('2.5')));
      a.grow(5);
      await publish(await cutOf(a), b);
      await eventually(async () => expect(await idOf(b)).toBe(await idOf(a)));
      expect(await b.balance(0, bob)).toBe(coins('3.5'));
      expect(await b.balance(0, alice)).toBe(await a.balance(0, alice));
      // Both nodes continue from the joined cut.
      b.grow(1);
      expect(b.tip(3).header.height).toBe(a.tip(3).header.height + 1n);
    },
  );

  it('replaces blocks of a lighter branch, whose commands wait again', async () => {
    const [a, b] = await startNetwork(2);
    b.node.ledger.pickChain = () => 3;
    const work = b.node.ledger.issueWork(alice, GUARD);
    expect(b.node.ledger.submit(work.slice(36)).outcome).toBe('accepted');
    const own = b.tip(3);
    const command = commandOf(0, toBob('2.5'));
    await b.run(0, command);
    a.grow(3);
    await publish(await cutOf(a), b);
    await eventually(async () => expect(await idOf(b)).toBe(await idOf(a)));
    expect(b.node.ledger.chains.isCanonical(3, own.id)).toBe(false);
    expect(await b.balance(3, alice)).toBe(coins('100.0'));
    expect(await b.poll(0, command.hash)).toBeUndefined();
    b.node.ledger.advance(0);
    expect((await b.poll(0, command.hash))?.result.status).toBe('success');
    // The replaced block is still stored.
    expect((await b.ask(`/chain/3/hash?minheight=${own.header.height}`)).plain).toMatchObject({
      items: expect.arrayContaining([own.id]),
    });
  });

  it('is dropped if a miner of its blocks cannot be paid', async () => {
    const rival = { account: `k:${'1'.repeat(64)}`, balance: '1.0', keys: [ALICE.publicKey] };
    const [a, b] = await startNetwork(2, { accounts: [rival] });
    a.grow(1);
    await publish(await cutOf(a), b);
    await eventually(async () => expect(reasons(b)).toEqual([expect.stringContaining('the miner cannot be paid')]));
  });

  it('is taken even if its branch has left the own one long ago', async () => {
    const [a, b] = await startNetwork(2, { chains: 1 });
    b.grow(45);
    await a.send(0, commandOf(0, toBob('2.5')));
    a.grow(46);
    await publish(await cutOf(a), b);
    await eventually(async () => expect(await idOf(b)).toBe(await idOf(a)));
    expect(await b.balance(0, bob)).toBe(coins('3.5'));
  });

  it('that is lighter adds the blocks that fit on top, and both nodes end with the same cut', async () => {
    const [a, b] = await startNetwork(2);
    a.node.ledger.advance(3);
    b.node.ledger.advance(5);
    b.node.ledger.advance(7);
    const [ofA, ofB] = [await cutOf(a), await cutOf(b)];
    await publish(ofA, b);
    await publish(ofB, a);
    await eventually(async () => {
      const ids = [await idOf(a), await idOf(b)];
      expect(ids[0]).toBe(ids[1]);
    });
    for (const chain of [3, 5, 7]) expect(b.tip(chain).header.height).toBe(b.tip(0).header.height + 1n);
  });

  it('makes the other node’s work late where its chain has another block', async () => {
    const [a, b] = await startNetwork(2);
    b.node.ledger.pickChain = () => 3;
    const work = b.node.ledger.issueWork(alice, GUARD);
    a.grow(2);
    await publish(await cutOf(a), b);
    await eventually(async () => expect(await idOf(b)).toBe(await idOf(a)));
    b.node.ledger.submit(work.slice(36));
    expect(b.node.ledger.stats.records.at(-1)).toMatchObject({ outcome: 'accepted', orphaned: true });
  });

  it('comes from other peers when its origin is gone', async () => {
    const [a, b, c] = await startNetwork(3);
    a.grow(2);
    const cut = await cutOf(a);
    await publish(cut, c);
    await eventually(async () => expect(await idOf(c)).toBe(cut.id));
    await a.node.goAway();
    await publish(cut, b);
    await eventually(async () => expect(await idOf(b)).toBe(cut.id));
  });

  it('is dropped when it is old, far ahead, of other blocks, or of a stranger', async () => {
    const [a, b] = await startNetwork(2);
    const first = await cutOf(a);
    b.grow(1);
    await publish(first, b);
    await eventually(() => expect(reasons(b)).toEqual(['is old: no chain is higher in it']));
    a.grow(22);
    await publish(await cutOf(a), b);
    await eventually(() => expect(reasons(b).at(-1)).toBe('is 20 blocks or more ahead'));
    const [other] = await startNetwork(1, { firstBlockTimeMs: firstBlockTimeMs + 1_000 });
    other.grow(2);
    b.node.peers.add('cut', other.node.peers.own!);
    await publish(await cutOf(other), b);
    await eventually(() => expect(reasons(b)).toHaveLength(3));
    await publish({ ...(await cutOf(other)), network: 'mainnet01' }, b);
    await eventually(() => expect(reasons(b).at(-1)).toBe('is of mainnet01'));
    const heads = new Map([...first.heads, [99, first.heads.get(0)!]]);
    await publish({ ...first, heads }, b);
    expect(reasons(b).at(-1)).toBe('has more heads than there are chains');
    expect(b.tip(0).header.height).toBe(5_000_001n);
  });

  it.each([
    ['pays another reward', { reward: '3.0' }, /^coinbase: /],
    ['has no events', { outputEvents: false }, /^coinbase: /],
    ['has a clock that is ahead', { clockSkewMs: 7_200_000 }, /^header\.creationTime: /],
    ['runs contracts of another generation', { contractDialect: 4 }, /^coinbase: .*moduleHash/],
  ] as const)('is dropped when its node %s', async (_, options, reason) => {
    const [a] = await startNetwork(1, options);
    const [b] = await startNetwork(1);
    b.node.peers.add('cut', a.node.peers.own!);
    await a.send(0, commandOf(0, toBob('2.5')));
    a.grow(1);
    await publish(await cutOf(a), b);
    await eventually(() => expect(reasons(b)).toEqual([expect.stringMatching(reason)]));
    expect(b.tip(0).header.height).toBe(5_000_000n);
  });

  it('is dropped when its node has another certificate than it says', async () => {
    const [a, b] = await startNetwork(2);
    a.grow(1);
    const cut = await cutOf(a);
    const impostor = { ...cut.origin!, id: 'A'.repeat(43) };
    b.node.peers.add('cut', impostor);
    await publish({ ...cut, origin: impostor }, b);
    await eventually(() => expect(reasons(b)).toEqual([expect.stringContaining('certificate')]));
  });

  it('is dropped when its heads are no cut', async () => {
    const [a, b] = await startNetwork(2);
    a.grow(2);
    const { header, hash } = a.tip(3);
    a.node.ledger.reorganise(a.node.ledger.chains.blocksOf(3).canonical(header.height - 1n)!);
    await publish(await cutOf(a), b);
    await eventually(async () => expect(await idOf(b)).toBe(await idOf(a)));
    a.node.ledger.advance(0);
    const cut = await cutOf(a);
    // The neighbours of chain 3 do not build on this head.
    await publish({ ...cut, heads: new Map([...cut.heads, [3, { height: header.height, hash }]]) }, b);
    await eventually(() => expect(reasons(b)).toEqual([expect.stringMatching(/^the heads are no cut/)]));
    expect(b.tip(0).header.height).toBe(header.height);
  });

  it('is dropped when a head is at another height than the cut says', async () => {
    const [a, b] = await startNetwork(2);
    a.grow(2);
    const cut = await cutOf(a);
    const { height, hash } = cut.heads.get(3)!;
    const heads = new Map([...cut.heads, [3, { height: height - 1n, hash }]]);
    await publish({ ...cut, heads, height: cut.height - 1n }, b);
    const reason = `the head of chain 3 is not at the height ${height - 1n} that the cut says`;
    await eventually(() => expect(reasons(b)).toEqual([reason]));
    expect(b.tip(3).header.height).toBe(height - 2n);
    await publish(cut, b);
    await eventually(async () => expect(await idOf(b)).toBe(cut.id));
  });

  it('is fetched in peace from a node that does not answer everything at once', async () => {
    let monotonicMs = 0;
    const clock = { ...systemClock, nowUs: () => systemClock.nowUs(), monotonicMs: () => monotonicMs };
    const [a, b] = await startNetwork(2, { throttling: { global: 10 } }, clock);
    a.grow(5);
    await publish(await cutOf(a), b);
    await eventually(() => expect(a.node.p2p!.stats.throttled).toBeGreaterThan(0));
    expect(b.tip(0).header.height).toBe(5_000_000n);
    monotonicMs += 60_000;
    await eventually(async () => expect(await idOf(b)).toBe(await idOf(a)));
  });
});

describe('a peer', () => {
  const peer = (port: number): Peer => ({ id: null, address: { hostname: '127.0.0.1', port } });

  it('that is no node, or this node itself, is not added', async () => {
    const [a] = await startNetwork(1);
    const server = createServer((_, response) => response.end('hello')).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await eventually(() => expect(server.listening).toBe(true));
    const put = async (body: Peer) => {
      const { status, text } = await a.p2p('/cut/peer', { method: 'PUT', body });
      return [status, text];
    };
    expect(await put(peer((server.address() as AddressInfo).port))).toEqual([
      400,
      'Invalid hostaddress: IsNotReachable "missing x-chainweb-node-version header"',
    ]);
    expect(await put(a.node.peers.own!)).toEqual([400, 'Invalid hostaddress: IsLocalPeerAddress']);
    expect(await put(peer(1))).toEqual([
      400,
      expect.stringMatching(/^Invalid hostaddress: IsNotReachable ".*ECONNREFUSED/),
    ]);
    const elsewhere = { id: null, address: { hostname: 'a.test', port: 1 } };
    expect((await put(elsewhere))[0]).toBe(400);
  });

  it('that is known is not asked again', async () => {
    const [a, b] = await startNetwork(2);
    const { node } = await banksOf('chainweb')({ p2p: 'tls' });
    const stranger = node.peers.own!;
    expect((await a.p2p('/cut/peer', { method: 'PUT', body: stranger })).status).toBe(204);
    await node.goAway();
    expect((await a.p2p('/cut/peer', { method: 'PUT', body: stranger })).status).toBe(204);
    expect((await b.p2p('/cut/peer', { method: 'PUT', body: stranger })).status).toBe(400);
    expect(a.node.peers.of('cut')).toContainEqual(stranger);
    expect(encodeBase64url(Buffer.from(stranger.id!, 'base64url'))).toBe(stranger.id);
  });
});
