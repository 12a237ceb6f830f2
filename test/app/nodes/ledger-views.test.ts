/** The follower of blocks, with real requests to nodes that grow valid chains. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openLedgerViews } from '#pickaxe/app/nodes/ledger-views.js';
import { BlockStore } from '#pickaxe/node/blocks/block-log.js';
import { type Change, Follower } from '#pickaxe/node/blocks/follower.js';
import { formatDecimal } from '#pickaxe/protocol/ledger/decimal.js';
import { encodeBase64url } from '#pickaxe/protocol/ledger/json.js';
import { MockNode } from '../../mock-node/node.ts';
import { madeRecord } from '../../node/blocks/pretend.ts';
import { serve } from '../../node/client/server.ts';
import { FakeClock } from '../../rig/status/fakes.ts';

const ACCOUNT = `k:${'ab'.repeat(32)}`;
const running = new AbortController().signal;

let folder: string;
const ends: (() => Promise<void>)[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pickaxe-'));
});
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
  rmSync(folder, { recursive: true, force: true });
});

async function watch(count = 1) {
  const nodes = Array.from({ length: count }, (_, seed) => {
    return new MockNode({ dialect: 'chainweb', checksProofOfWork: false, seed, reward: '2.5', chains: 10 });
  });
  const urls: string[] = [];
  for (const node of nodes) {
    urls.push((await node.start()).url);
    ends.push(() => node.close());
  }
  const { views, close } = openLedgerViews({
    node: { urls, network: 'development', insecureTls: false },
    ledger: { dialect: 'auto' },
  });
  const store = new BlockStore({ folder, warn: (line) => expect.fail(line) });
  ends.push(close, () => store.close());
  const clock = new FakeClock();
  const changes: Change[] = [];
  const faults: (string | undefined)[] = [];
  const follower = new Follower({
    views,
    store,
    clock,
    settledDepth: 6,
    changed: (change) => changes.push(change),
    nodeNews: (_, fault) => faults.push(fault),
  });
  return {
    node: nodes[0],
    nodes,
    changes,
    faults,
    /** Mines a block, which the first node accepts. */
    mine: (chain: number) => {
      const { ledger } = nodes[0];
      ledger.pickChain = () => chain;
      const header = ledger.issueWork(ACCOUNT).slice(36);
      expect(ledger.submit(header).outcome).toBe('accepted');
      const foundMs = Number(clock.nowUs() / 1000n);
      const record = madeRecord(header, { network: 'development', foundMs, account: ACCOUNT });
      store.add({ type: 'found', record });
      follower.add(store.block(record.hash)!);
      return record;
    },
    rounds: async (many = 2) => {
      for (let i = 0; i < many; i++) {
        clock.advance(15_000);
        await follower.round(running);
      }
    },
    state: (hash: string) => store.block(hash)!.standing.state,
    block: (hash: string) => store.block(hash)!,
  };
}

describe('a block that the mock node accepted', () => {
  it('is pending as the newest, then won with a proven reward, settled, and orphaned by a reorganisation', async () => {
    const { node, mine, rounds, state, block, changes } = await watch();
    const { hash, height } = mine(3);
    const own = node.ledger.chains.tip(3);
    await rounds();
    expect(state(hash)).toBe('pending');
    node.ledger.advanceTo(3, height + 2n);
    await rounds();
    expect(block(hash)).toMatchObject({ standing: { state: 'won', depth: 2 }, reward: { account: ACCOUNT } });
    expect(formatDecimal(block(hash).reward!.reward!)).toBe('2.5');
    node.ledger.advanceTo(3, height + 7n);
    await rounds();
    expect(state(hash)).toBe('settled');
    node.ledger.reorganise(own);
    await rounds();
    expect(state(hash)).toBe('orphaned');
    expect(changes.at(-1)).toMatchObject({ what: 'state', before: { state: 'settled' } });
  });

  it.each([0, 1, 2])('is orphaned when the node changes its mind at depth %i', async (depth) => {
    const { node, mine, rounds, state, block } = await watch();
    node.ledger.orphanNext(depth);
    const { hash, height } = mine(3);
    node.ledger.advanceTo(3, height + 4n);
    await rounds();
    expect(state(hash)).toBe('orphaned');
    expect(block(hash).standing.winner).toMatch(/^[\w-]{43}$/);
    expect(block(hash).reward).toBeUndefined();
  });

  it('stays settled when a cut goes back', async () => {
    const { node, mine, rounds, state } = await watch();
    const { hash, height } = mine(3);
    node.ledger.advanceTo(3, height + 8n);
    await rounds();
    node.server.faults = [{ endpoint: 'cut', kind: 'old-cut', blocksBack: 10 }];
    await rounds(4);
    expect(state(hash)).toBe('settled');
  });

  it('is contested while two nodes have different chains', async () => {
    const { nodes, mine, rounds, block } = await watch(2);
    const { hash, height } = mine(3);
    for (const { ledger } of nodes) ledger.advanceTo(3, height + 3n);
    await rounds();
    expect(block(hash).standing).toMatchObject({ state: 'contested', nodesDisagree: true });
  });

  it('has no reward while the node says a false one, which is named, or has no payload', async () => {
    const { node, mine, rounds, block, changes } = await watch();
    const { hash, height } = mine(3);
    node.ledger.advanceTo(3, height + 2n);
    node.server.faults = [{ endpoint: 'payload', kind: 'wrong-reward' }];
    await rounds();
    expect(block(hash).reward).toBeUndefined();
    expect(changes.at(-1)).toMatchObject({
      what: 'reward-fault',
      fault: expect.stringMatching(/the payload is not the one in our header: payload: outputsHash is /),
    });
    node.server.faults = [{ endpoint: 'payload', kind: 'missing-payload' }];
    await rounds(4);
    expect(block(hash).reward).toBeUndefined();
    node.server.faults = [];
    await rounds(10);
    expect(block(hash).reward).toBeDefined();
    expect(changes.at(-1)).toMatchObject({ what: 'reward' });
  });

  it('is found among pages of one hash each, which never end', async () => {
    const { node, mine, rounds, state } = await watch();
    const found = [mine(3), mine(3), mine(3)].map(({ hash }) => hash);
    node.ledger.advanceTo(3, node.ledger.chains.heightOf(3) + 3n);
    node.server.faults = [{ endpoint: 'hash', kind: 'short-pages', items: 1 }];
    await rounds();
    expect(found.map(state)).toEqual(['won', 'won', 'won']);
  });

  it('is won as soon as the node answers again', async () => {
    const { node, mine, rounds, state, faults } = await watch();
    const { hash, height } = mine(3);
    node.ledger.advanceTo(3, height + 2n);
    await node.goAway();
    await rounds();
    expect(state(hash)).toBe('pending');
    expect(faults).toEqual([expect.any(String)]);
    await node.comeBack();
    await rounds();
    expect(state(hash)).toBe('won');
  });
});

it('nodes are asked in the dialect of the settings', async () => {
  const { url, seen } = await serve(() => undefined, { headers: {} });
  const node = { urls: [url], network: 'development', insecureTls: false };
  const { views, close } = openLedgerViews({ node, ledger: { dialect: 'chainweb' } });
  ends.push(close);
  await expect(views[0].heads(running)).rejects.toThrow();
  expect(seen.map(({ path }) => path)).toEqual(['/chainweb/0.0/development/cut']);
});

it('a branch that lacks a block is an error, which says nothing about any block', async () => {
  const hash = (height: number) => encodeBase64url(Buffer.alloc(32, height));
  const branch = [102, 101, 100].map(hash);
  const answer = { items: branch, limit: 3, next: null };
  const { url } = await serve(({ path }) => (path.includes('/hash/branch') ? { body: answer } : undefined));
  const node = { urls: [url], network: 'development', insecureTls: false };
  const { views, close } = openLedgerViews({ node, ledger: { dialect: 'chainweb' } });
  ends.push(close);
  const ask = () => views[0].ancestors(3, hash(109), 100n, 102n, running);
  expect([...(await ask())]).toEqual([
    [102n, branch[0]],
    [101n, branch[1]],
    [100n, branch[2]],
  ]);
  answer.items = [branch[0], branch[2]];
  await expect(ask()).rejects.toThrow('gave 2 ancestors of chain 3 where there must be 3');
});

it('a node that says that it keeps more than ten blocks of a height is not listened to', async () => {
  const items: string[] = [];
  const { url } = await serve(({ path }) =>
    path.includes('/hash') ? { body: { items, limit: 0, next: null } } : undefined,
  );
  const node = { urls: [url], network: 'development', insecureTls: false };
  const { views, close } = openLedgerViews({ node, ledger: { dialect: 'chainweb' } });
  ends.push(close);
  const ask = () => views[0].keptHashes(3, 100n, 101n, running);
  for (let i = 0; i < 20; i++) items.push(encodeBase64url(Buffer.alloc(32, i)));
  expect([...(await ask())]).toEqual(items);
  items.push(encodeBase64url(Buffer.alloc(32, 20)));
  await expect(ask()).rejects.toThrow('gave more than 20 blocks of chain 3');
});
