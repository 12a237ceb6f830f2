/** The faults of the mock node at the endpoints of documents 1 and 2. */

import { describe, expect, it } from 'vitest';
import { UnpaidError } from '#pickaxe/mock-node/ledger/ledger.js';
import type { MockNode } from '#pickaxe/mock-node/mock-node.js';
import { cutFromJson } from '#pickaxe/protocol/ledger/cut.js';
import { type ExactJson, encodeBase64url } from '#pickaxe/protocol/ledger/json.js';
import { payloadWithOutputsFromJson } from '#pickaxe/protocol/ledger/payload.js';
import { provenReward } from '../../protocol/ledger/proven-reward.ts';
import { at, mocksOf } from '../ask.ts';
import { ALICE, alice, BOB, banksOf, bob, coins, commandOf, keysetOf, toBob } from '../execution/bank.ts';
import { codeOn } from '../execution/deployed.ts';

const startMock = mocksOf('chainweb');
const startBank = banksOf('chainweb');

const KEY = 'ab'.repeat(32);
const ACCOUNT = `k:${KEY}`;
const GUARD = { predicate: 'keys-all', publicKeys: [KEY] };

/** Solves a block on a chain. @returns its height and hash */
function solve(node: MockNode, chain: number) {
  node.ledger.pickChain = () => chain;
  const header = node.ledger.issueWork(ACCOUNT, GUARD).slice(36);
  expect(node.ledger.submit(header).outcome).toBe('accepted');
  const { height } = node.ledger.chains.tip(chain).header;
  const [block] = [...node.ledger.chains.blocksOf(chain).between(height - 9n, height)].filter(({ bytes }) => {
    return Buffer.compare(bytes, header) === 0;
  });
  return block;
}

describe('the next solution’s block', () => {
  it.each([0, 1, 2])('is orphaned at depth %i, with all blocks that build on it', async (depth) => {
    const { node, ask } = await startMock({ chains: 10 });
    node.ledger.orphanNext(depth);
    const block = solve(node, 3);
    const { height } = block.header;
    const store = node.ledger.chains.blocksOf(3);
    for (let above = 0; above < depth; above++) {
      expect(store.isCanonical(block)).toBe(true);
      node.ledger.advance(3);
    }
    expect(store.isCanonical(block)).toBe(false);
    expect(store.tip.header.height).toBe(height + BigInt(depth));
    for (const [chain] of node.ledger.chains.graph.entries()) {
      for (const each of [...node.ledger.chains.blocksOf(chain).between(height, height + 9n)]) {
        const builds = each.header.adjacents.some(({ hash }) => Buffer.compare(hash, block.hash) === 0);
        expect([builds, builds && node.ledger.chains.blocksOf(chain).isCanonical(each)]).toEqual([builds, false]);
      }
    }
    const body = { upper: [store.tip.id], lower: [] };
    const query = `?minheight=${height}&maxheight=${height}`;
    const branch = await ask(`/chain/3/hash/branch${query}`, { method: 'POST', body });
    expect(at(branch.json, 'items')).toEqual([store.canonical(height)!.id]);
    expect(at((await ask(`/chain/3/hash${query}`)).json, 'items')).toContain(block.id);
    // Only one block is orphaned.
    expect(store.isCanonical(solve(node, 3))).toBe(true);
  });

  it('that is orphaned makes the work on its neighbours late', async () => {
    const { node } = await startMock({ chains: 10 });
    const [neighbour] = node.ledger.chains.graph[3];
    solve(node, 3);
    solve(node, neighbour);
    node.ledger.pickChain = () => neighbour;
    const header = node.ledger.issueWork(ACCOUNT, GUARD).slice(36);
    node.ledger.reorganise(node.ledger.chains.tip(3));
    node.ledger.submit(header);
    expect(node.ledger.stats.records.at(-1)).toMatchObject({ outcome: 'accepted', orphaned: true });
  });
});

describe('a late solution', () => {
  it('is an orphan of the database', async () => {
    const { node, ask } = await startMock({ chains: 10 });
    node.ledger.pickChain = () => 3;
    const header = node.ledger.issueWork(ACCOUNT, GUARD).slice(36);
    node.ledger.advance(3);
    node.ledger.submit(header);
    const { json } = await ask('/chain/3/block?minheight=5000001');
    const items = at(json, 'items') as readonly ExactJson[];
    expect(items).toHaveLength(2);
    const accounts = items.map((item) => {
      const payload = payloadWithOutputsFromJson(at(item, 'payloadWithOutputs') as ExactJson);
      return JSON.parse(Buffer.from(payload.minerData).toString()).account;
    });
    expect(accounts[1]).toBe(ACCOUNT);
  });
});

describe('a network that stands still', () => {
  it('can have an old cut from the beginning', async () => {
    const { node } = await startMock({ firstBlockAgeMs: 3_600_000 });
    const oldest = node.ledger.chains.tip(0).header.creationTimeUs;
    expect(Number((node.ledger.nowUs() - oldest) / 1_000_000n)).toBeGreaterThanOrEqual(3_600);
  });
});

describe('a fault of the script', () => {
  it('answers with a cut of before', async () => {
    const { node, ask, grow } = await startMock({ chains: 10 });
    grow(5);
    const height = async () => cutFromJson((await ask('/cut')).json).height;
    const before = await height();
    node.server.faults = [{ endpoint: 'cut', kind: 'old-cut', blocksBack: 2, times: 1 }];
    expect(await height()).toBe(before - 20n);
    expect(await height()).toBe(before);
  });

  it('drops a payload for a while', async () => {
    const { node, ask, tip } = await startMock({ chains: 10 });
    const hash = encodeBase64url(tip(3).header.payloadHash);
    node.server.faults = [{ endpoint: 'payload', kind: 'missing-payload', times: 3 }];
    const batch = () => ask('/chain/3/payload/batch', { method: 'POST', body: [hash] });
    expect((await ask(`/chain/3/payload/${hash}`)).plain).toEqual({ reason: 'key not found', key: hash });
    expect((await ask(`/chain/3/payload/${hash}/outputs`)).status).toBe(404);
    expect((await batch()).plain).toEqual([]);
    expect((await ask(`/chain/3/payload/${hash}`)).status).toBe(200);
    expect((await batch()).plain).toHaveLength(1);
  });

  it('tells a wrong reward, which the roots disprove', async () => {
    const { node, ask, grow, tip } = await startMock({ chains: 10 });
    grow(1);
    const { header } = tip(3);
    node.server.faults = [{ endpoint: 'any', kind: 'wrong-reward', times: 2 }];
    const outputs = async () => {
      const { json } = await ask(`/chain/3/payload/${encodeBase64url(header.payloadHash)}/outputs`);
      return payloadWithOutputsFromJson(json);
    };
    const served = await outputs();
    expect(() => provenReward(header, served)).toThrow(/outputsHash/);
    const block = await ask('/chain/3/block?minheight=5000001');
    const [item] = at(block.json, 'items') as readonly ExactJson[];
    const inBlock = payloadWithOutputsFromJson(at(item, 'payloadWithOutputs') as ExactJson);
    expect(() => provenReward(header, inBlock)).toThrow(/outputsHash/);
    const right = await outputs();
    expect(provenReward(header, right).reward).toBeGreaterThan(0n);
  });

  it.each([
    [
      'with more digits than a number has',
      { reward: '1234567890.123456789012' },
      { decimal: '1234567891.123456789012' },
    ],
    ['with few digits', { reward: '2.5' }, 3.5],
  ])('tells a wrong reward %s', async (_, options, amount) => {
    const { node, ask, grow, tip } = await startMock({ chains: 10, ...options });
    grow(1);
    node.server.faults = [{ endpoint: 'payload', kind: 'wrong-reward' }];
    const path = `/chain/3/payload/${encodeBase64url(tip(3).header.payloadHash)}`;
    const { coinbase } = (await ask(`${path}/outputs`)).plain as { coinbase: string };
    const served = JSON.parse(Buffer.from(coinbase, 'base64url').toString());
    expect(served.events[0].params[2]).toEqual(amount);
  });

  it('tells another coinbase where it has no amount', async () => {
    const { node, ask, grow, tip } = await startMock({ chains: 10, outputEvents: false });
    grow(1);
    const { header } = tip(3);
    node.server.faults = [{ endpoint: 'payload', kind: 'wrong-reward' }];
    const { json } = await ask(`/chain/3/payload/${encodeBase64url(header.payloadHash)}/outputs`);
    expect(() => provenReward(header, payloadWithOutputsFromJson(json))).toThrow(/outputsHash/);
  });

  it('makes pages of one item, whose cursor is never null', async () => {
    const { node, ask, grow, tip } = await startMock({ chains: 10 });
    grow(2);
    node.server.faults = [{ endpoint: 'hash', kind: 'short-pages', items: 1 }];
    const page = await ask('/chain/3/hash');
    expect(page.plain).toMatchObject({
      items: [expect.any(String)],
      limit: 1,
      next: expect.stringMatching(/^inclusive/),
    });
    node.server.faults = [{ endpoint: 'hash', kind: 'endless-pages' }];
    const body = { upper: [tip(3).id], lower: [] };
    const branch = await ask('/chain/3/hash/branch', { method: 'POST', body });
    const next = at(branch.json, 'next');
    expect(next).toMatch(/^exclusive:/);
    const again = await ask(`/chain/3/hash/branch?next=${next}`, { method: 'POST', body });
    expect([at(again.json, 'next'), (at(again.json, 'items') as unknown[]).length]).toEqual([next, 0]);
    const empty = await ask(`/chain/3/hash?next=exclusive:${tip(3).id}`);
    expect(at(empty.json, 'next')).toBe(`exclusive:${tip(3).id}`);
  });

  it.each([404, 406, 429, 503])('answers with %i', async (status) => {
    const { node, ask } = await startMock({ chains: 10 });
    node.server.faults = [{ endpoint: 'cut', kind: 'status', status, text: 'not now', times: 1 }];
    expect(await ask('/cut')).toMatchObject({ status, text: 'not now' });
    expect((await ask('/cut')).status).toBe(200);
    expect(node.server.stats).toMatchObject({ requests: { cut: 2 }, faults: 1 });
  });

  it('belongs to one side', async () => {
    const { node, ask, p2p } = await startMock({ chains: 10, p2p: 'plain' });
    node.p2p!.faults = [{ endpoint: 'any', kind: 'status', status: 429 }];
    expect([(await ask('/cut')).status, (await p2p('/cut')).status]).toEqual([200, 429]);
  });

  it('loses the answer of a /send that was carried out', async () => {
    const { node, send, poll, balance } = await startBank();
    const command = commandOf(0, toBob('2.0'));
    node.server.faults = [{ endpoint: 'send', kind: 'lost-answer', times: 1 }];
    await expect(send(0, command)).rejects.toThrow();
    node.ledger.advance(0);
    expect(await poll(0, command.hash)).toMatchObject({ result: { status: 'success' } });
    expect((await send(0, command)).text).toContain('Transaction already exists on chain');
    expect(await balance(0, bob)).toBe(coins('3.0'));
  });

  it('makes /listen slow', async () => {
    const { node, run, post, poll } = await startBank();
    const { reqKey } = await run(0, commandOf(0, toBob('2.0')));
    node.server.faults = [{ endpoint: 'listen', kind: 'delay', delayMs: 500, times: 1 }];
    let isThere = false;
    const listened = post(0, 'api/v1/listen', { listen: reqKey }).then(({ plain }) => {
      isThere = true;
      return plain;
    });
    expect(await poll(0, reqKey)).toBeDefined();
    expect(isThere).toBe(false);
    expect(await listened).toMatchObject({ reqKey });
  });
});

describe('a miner who cannot be paid', () => {
  const [own, other] = ['a'.repeat(64), 'b'.repeat(64)];
  const guard = { predicate: 'keys-all', publicKeys: [own] };

  it('gets no work on that chain', async () => {
    const accounts = [{ account: 'shop', balance: '1.0', keys: [other], chains: [0, 1, 2] }];
    const { node } = await startMock({ chains: 10, accounts });
    for (const chain of [0, 1, 2]) {
      node.ledger.pickChain = () => chain;
      expect(node.ledger.issueWork('shop', guard)[0]).toBe(3);
    }
  });

  it.each([
    ['shop', 'account guards do not match'],
    [`k:${other}`, 'Single-key account protocol violation'],
    ['xy', 'Account name does not conform to the min length requirement: xy'],
  ])('gets no work at all when it is so on all chains: %s', async (account, why) => {
    const accounts = [{ account: 'shop', balance: '1.0', keys: [other] }];
    const { askUrl, baseUrl, node } = await startMock({ chains: 10, accounts });
    const body = { account, predicate: 'keys-all', 'public-keys': [own] };
    const ask = async () => {
      const { status, text } = await askUrl(`${baseUrl}/mining/work`, { body });
      return [status, text];
    };
    expect(await ask()).toEqual([503, `No work on any chain: ${why}`]);
    expect(await ask()).toEqual([503, `No work on any chain: ${why}`]);
    expect(node.ledger.stats.workIssued).toBe(0);
    // Other miners still get work.
    const { status } = await askUrl(`${baseUrl}/mining/work`, { body: { ...body, account: `k:${own}` } });
    expect(status).toBe(200);
  });

  it('gets work again once the account can be paid', async () => {
    const { node, send } = await startBank({
      accounts: [
        { account: alice, balance: '100.0' },
        { account: 'shop', balance: '1.0', keys: [ALICE.publicKey] },
      ],
      chains: 1,
    });
    const miner = { predicate: 'keys-all', publicKeys: [BOB.publicKey] };
    expect(() => node.ledger.issueWork('shop', miner)).toThrow(UnpaidError);
    const clist = [
      { name: 'coin.GAS', args: [] },
      { name: 'coin.ROTATE', args: ['shop'] },
    ];
    const rotate = codeOn(0, '(coin.rotate "shop" (read-keyset "k"))', { data: { k: keysetOf(BOB) }, clist });
    expect((await send(0, rotate)).status).toBe(200);
    node.ledger.advance(0);
    expect(node.ledger.issueWork('shop', miner)).toHaveLength(322);
  });
});
