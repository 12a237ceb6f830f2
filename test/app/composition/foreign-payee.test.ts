/**
 * A node, or somebody before it, that asks for work with its own account: found out by the first block, told loudly,
 * and left.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ChosenSource } from '#pickaxe/app/composition/choose-source.js';
import { systemContext } from '#pickaxe/app/composition/context.js';
import { blocks } from '#pickaxe/app/composition/sidecars.js';
import { DEFAULTS } from '#pickaxe/app/config/settings.js';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { Submitter } from '#pickaxe/miner/source/submitter.js';
import { totalsOf } from '#pickaxe/node/blocks/block-index.js';
import { BlockStore } from '#pickaxe/node/blocks/block-log.js';
import type { Solution } from '#pickaxe/protocol/chain/verify.js';
import type { Work } from '#pickaxe/protocol/chain/work.js';
import { formatDecimal } from '#pickaxe/protocol/ledger/decimal.js';
import { eventually, Follower, mine } from '../../miner/source/follow.ts';
import { followNode, miner, nodesOf } from '../../miner/source/node/node.ts';
import { idleMiner } from './sidecars/fakes.ts';

const startNode = nodesOf('chainweb');

const THIEF_KEY = 'c'.repeat(64);
const THIEF = { account: `k:${THIEF_KEY}`, predicate: 'keys-all', 'public-keys': [THIEF_KEY] };

/**
 * A proxy before a node, which asks for work as somebody else.
 * @param hides whether it hides what blocks pay @param refuses whether it answers 404 to each block, which it passes on
 */
async function proxyBefore(target: string, as: object, hides = false, refuses = false) {
  const counts = { work: 0 };
  const server = createServer(async (incoming, answer) => {
    const parts: Buffer[] = [];
    for await (const part of incoming) parts.push(part);
    const { url = '', method, headers } = incoming;
    const isWork = url.endsWith('/mining/work');
    if (isWork) counts.work++;
    const path = hides && url.includes('/payload/') ? '/nothing' : url;
    const body = isWork ? Buffer.from(JSON.stringify(as)) : Buffer.concat(parts);
    const outgoing = request(`${target}${path}`, { method, headers: { ...headers, 'content-length': body.length } });
    outgoing.on('error', () => answer.destroy());
    outgoing.on('response', (response) => {
      const isRefused = refuses && url.endsWith('/mining/solved');
      answer.writeHead(isRefused ? 404 : response.statusCode!, response.headers);
      answer.flushHeaders();
      response.on('error', () => answer.destroy());
      response.pipe(answer);
    });
    answer.on('close', () => outgoing.destroy());
    outgoing.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, name: url, counts };
}

/** A rig on these nodes with the block log beside it. */
async function rigOn(urls: string[], account: string = miner.account) {
  const { running, recorded, said } = idleMiner();
  const { events } = running;
  const node = { ...DEFAULTS.node, urls, network: 'development' };
  const { predicate, publicKeys } = miner;
  const settings = { ...DEFAULTS, node, miner: { account, predicate, publicKeys } };
  const chosen = new ChosenSource(settings, events, systemContext);
  const { source } = chosen;
  const folder = mkdtempSync(join(tmpdir(), 'pickaxe-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const endBlocks = await blocks({
    settings: { log: true, settledDepth: 6, folder },
    node,
    ledger: { dialect: 'auto' },
    account,
    keyset: { predicate, publicKeys },
    leave: (name, reason) => source.leave(name, reason),
    speed: 10_000,
  })!(running);
  let ended: Promise<void> | undefined;
  const end = () => {
    ended ??= Promise.resolve(endBlocks());
    return ended;
  };
  onTestFinished(end);
  const follower = new Follower(source);
  onTestFinished(() => follower.end());
  const submitter = new Submitter({ source, emit: events.emit, clock: systemClock, isStale: () => false });
  const elsewhere = new Submitter({
    source: { nameOf: () => source.name, submit: (...asked) => chosen.submitElsewhere(...asked) },
    emit: events.emit,
    clock: systemClock,
    isStale: () => false,
  });
  return {
    follower,
    /** Submits a solution of work that another coordinator gave, as a rig of the fleet sends it. */
    submitElsewhere: (solution: Solution) =>
      elsewhere.submit(solution, { name: 'fleet', isRelay: true, isElsewhere: true }, follower.stop),
    nameOf: (work: Work) => source.nameOf(work),
    recorded,
    said,
    tally: running.tally,
    mineOne: async () => {
      const work = await follower.work();
      submitter.submit(mine(work), { name: 'cpu', isRelay: false }, follower.stop);
      await submitter.settled();
      return work;
    },
    /** What another process reads in the block log, once this one has ended. */
    totals: async () => {
      await end();
      const store = new BlockStore({ folder, warn: (line) => expect.fail(line) });
      await store.refresh();
      return totalsOf(store.blocks, store.searchedExpectedBlocks, store.notFollowed);
    },
  };
}

const isLeft = (name: string) => ({ source: name, state: 'lost', reason: expect.stringContaining('works for k:ccc') });

describe.each([
  ['shows what its blocks pay', false],
  ['hides it, so that only another node shows it', true],
])('a node that works for another account and %s', (_, hides) => {
  test('is left for the next one before its first block is won, which earns nothing', async () => {
    const { node, url } = await startNode({ reward: '2.5' });
    const thief = await proxyBefore(url, THIEF, hides);
    const rig = await rigOn([thief.url, url]);
    const first = await rig.mineOne();
    expect(rig.nameOf(first)).toBe(thief.name);
    await eventually(() => expect(rig.recorded.of('block-reward')).toHaveLength(1));
    const told = { paidTo: THIEF.account, account: miner.account, source: thief.name, chain: first.chain };
    expect(rig.recorded.of('block-reward')).toMatchObject([told]);
    expect(rig.recorded.of('block-reward')[0]).not.toHaveProperty('reward');
    await eventually(() =>
      expect(rig.recorded.of('source')).toContainEqual(expect.objectContaining(isLeft(thief.name))),
    );
    const nameOfLast = () => rig.nameOf(rig.follower.received.at(-1)!);
    await eventually(() => expect(nameOfLast()).not.toBe(thief.name));
    const { work } = thief.counts;
    const second = await rig.mineOne();
    expect(rig.nameOf(second)).not.toBe(thief.name);
    for (const { chain } of [first, second]) node.ledger.advance(chain);
    await eventually(() =>
      expect(rig.recorded.of('block-state').filter(({ state }) => state === 'won')).toMatchObject([
        { paidTo: THIEF.account },
        { reward: '2.5' },
      ]),
    );
    expect(rig.tally.summary().acceptedBlocks).toMatchObject({ won: 2, paidElsewhere: 1 });
    const totals = await rig.totals();
    expect(totals).toMatchObject({ accepted: 2, won: 2, paidElsewhere: 1, unproven: 0 });
    expect(formatDecimal(totals.earned)).toBe('2.5');
    expect(thief.counts.work).toBe(work);
  });
});

test.each([false, true])(
  'a node that answers every block with 404 is left, too (hides what they pay: %s)',
  async (hides) => {
    const { node, url } = await startNode({ reward: '2.5' });
    const thief = await proxyBefore(url, THIEF, hides, true);
    const rig = await rigOn([thief.url, url]);
    const { chain } = await rig.mineOne();
    expect(rig.recorded.of('refused-block')).toHaveLength(1);
    await eventually(() =>
      expect(rig.recorded.of('source')).toContainEqual(expect.objectContaining(isLeft(thief.name))),
    );
    expect(rig.recorded.of('block-reward')).toMatchObject([{ paidTo: THIEF.account, source: thief.name }]);
    node.ledger.advance(chain);
    await eventually(() =>
      expect(rig.recorded.of('block-state').at(-1)).toMatchObject({ state: 'won', paidTo: THIEF.account }),
    );
    const totals = await rig.totals();
    expect(totals).toMatchObject({ accepted: 1, won: 1, paidElsewhere: 1, lost: 0, unanswered: 0, earned: 0n });
  },
);

test('a node is kept that takes blocks of another coordinator, which works for an account of its own', async () => {
  const { node, url } = await startNode({ reward: '2.5', lateSolutions: 'refuse' });
  const rig = await rigOn([url]);
  const theirs = { account: THIEF.account, predicate: 'keys-all', publicKeys: [THIEF_KEY] } as const;
  const other = followNode(url, {}, { miner: theirs });
  const work = await other.follower.work();
  expect(await rig.submitElsewhere(mine(work))).toMatchObject({ outcome: 'accepted' });
  node.ledger.advance(work.chain);
  await eventually(() =>
    expect(rig.recorded.of('block-state').at(-1)).toMatchObject({ state: 'won', paidTo: THIEF.account }),
  );
  // A block that the node refuses is no block of this rig, so the node is not asked whom it pays.
  const late = await other.follower.work();
  node.ledger.advance(late.chain);
  expect(await rig.submitElsewhere(mine(late))).not.toMatchObject({ outcome: 'accepted' });
  await rig.mineOne();
  await eventually(() => expect(rig.recorded.of('accepted-block')).toHaveLength(2));
  expect(rig.recorded.of('block-reward').filter(({ paidTo }) => paidTo !== undefined)).toEqual([]);
  expect(rig.recorded.of('source').filter(({ state }) => state === 'lost')).toEqual([]);
  expect(await rig.totals()).toMatchObject({ accepted: 2, paidElsewhere: 1 });
});

test('the only node of a rig is left, too: nothing is mined for somebody else', async () => {
  const { url } = await startNode({ reward: '2.5' });
  const thief = await proxyBefore(url, THIEF);
  const rig = await rigOn([thief.url]);
  await rig.mineOne();
  await eventually(() => expect(rig.recorded.of('source').at(-1)).toMatchObject(isLeft(thief.name)));
  await eventually(() => expect(rig.follower.updates.at(-1)).toMatchObject({ kind: 'lost' }));
  const { work } = thief.counts;
  expect(rig.follower.of('stale').at(-1)).toMatchObject({ reason: 'cancelled' });
  expect(formatDecimal((await rig.totals()).earned)).toBe('0.0');
  expect(thief.counts.work).toBe(work);
});

test('a name that anybody can take is told apart by its keys', async () => {
  const { url } = await startNode({ reward: '2.5' });
  const thief = await proxyBefore(url, { ...THIEF, account: 'alice' });
  const rig = await rigOn([thief.url], 'alice');
  await rig.mineOne();
  await eventually(() =>
    expect(rig.recorded.of('block-reward')).toMatchObject([{ paidTo: 'alice with other keys', account: 'alice' }]),
  );
  const honest = await rigOn([(await startNode({ reward: '2.5' })).url], 'alice');
  await honest.mineOne();
  await eventually(async () => expect(honest.recorded.of('block-state')).toHaveLength(1));
  await honest.totals();
  expect(honest.recorded.of('block-reward')).toEqual([]);
});
