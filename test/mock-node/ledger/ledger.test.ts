/** Tests the mock ledger without a server: late solutions and updates. */

import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { Ledger, type LedgerEvent } from '#pickaxe/mock-node/ledger/ledger.js';
import { LedgerStats, recordOf } from '#pickaxe/mock-node/ledger/mining-stats.js';
import type { Judgement } from '#pickaxe/mock-node/ledger/referee.js';
import { type MockNodeOptions, optionsSchema } from '#pickaxe/mock-node/options.js';
import { seededRandom } from '#pickaxe/mock-node/random.js';
import { HEADER_BYTES, WORK_OFFSET } from '#pickaxe/protocol/chain/bytes.js';
import { parseHeader } from '#pickaxe/protocol/ledger/header.js';
import { share } from './nodes.ts';

const CHAIN = 3;
const FIVE_MINUTES_MS = 300_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A ledger that issues work on one chain only. Every nonce solves the work. */
function setUp(options: MockNodeOptions = {}) {
  const clock = { ...systemClock, ms: 0, nowUs: () => 1_700_000_000_000_000n, monotonicMs: () => clock.ms };
  const events: LedgerEvent[] = [];
  const surroundings = { clock, random: seededRandom(1), emit: (event: LedgerEvent) => void events.push(event) };
  const ledger = new Ledger(optionsSchema.parse({ difficulty: 1, ...options }), surroundings);
  ledger.pickChain = () => CHAIN;
  const updates: [update: string, chain: number][] = [];
  ledger.follow((...update) => updates.push(update));
  const issueHeader = () => ledger.issueWork('k:a').subarray(WORK_OFFSET.header);
  const blocks = () => events.filter(({ type }) => type === 'block');
  return { ledger, clock, updates, issueHeader, blocks };
}

it('a solution of the tip’s work becomes a block, and the followers are told', () => {
  const { ledger, updates, issueHeader, blocks } = setUp();
  expect(ledger.submit(issueHeader())).toMatchObject({ outcome: 'accepted' });
  expect(blocks()).toMatchObject([{ by: 'miner', chain: CHAIN }]);
  expect(updates).toEqual([['New Cut', CHAIN]]);
  expect(ledger.stats).toMatchObject({ accepted: 1, orphaned: 0, workIssued: 1 });
});

it('a solution that comes after its chain has advanced is accepted for 5 minutes, and becomes an orphan', () => {
  const { ledger, clock, updates, issueHeader, blocks } = setUp();
  const inTime = issueHeader();
  ledger.advance(CHAIN);
  const tooLate = issueHeader(); // The chain's neighbours must get blocks before it can continue.
  ledger.advance(CHAIN);
  const before = [blocks(), [...updates]];
  expect(ledger.submit(inTime)).toMatchObject({ outcome: 'accepted' });
  expect(ledger.stats.records.at(-1)).toMatchObject({ outcome: 'accepted', orphaned: true });
  clock.ms = FIVE_MINUTES_MS;
  expect(ledger.submit(tooLate)).toEqual({ outcome: 'stale', reason: 'No associated Payload' });
  expect(ledger.stats).toMatchObject({ accepted: 1, orphaned: 1, stale: 1, rivalBlocks: 5 });
  expect([blocks(), updates]).toEqual(before);
  const store = ledger.chains.blocksOf(CHAIN);
  const siblings = [...store.between(store.lowest + 1n, store.lowest + 1n)];
  expect(siblings.map((block) => store.isCanonical(block))).toEqual([true, false]);
  expect(Buffer.from(siblings[1].bytes)).toEqual(Buffer.from(inTime));
});

it('a block is also a New Cut on the adjacent chains, if that is set', () => {
  const { ledger, updates } = setUp({ neighbourCuts: true });
  ledger.advance(CHAIN);
  expect(updates.map(([, chain]) => chain)).toEqual([CHAIN, 8, 13, 18]);
  ledger.refreshPayload(CHAIN);
  expect(updates.slice(4)).toEqual([['Refreshed Block', CHAIN]]);
});

it('work is late when a block that it builds on is an orphan after another node’s cut', () => {
  const theirs = setUp().ledger;
  const { ledger: ours, issueHeader } = setUp();
  ours.clockSkewMs = 1_000; // Otherwise, blocks would be in the future: each is later than those below it.
  const [neighbour] = theirs.chains.graph[CHAIN];
  const level = (height: bigint, chains: Iterable<number>) => {
    for (const chain of chains) theirs.advanceTo(chain, height);
  };
  const { graph } = theirs.chains;
  const first = theirs.chains.heightOf(0);
  level(first + 1n, graph.keys());
  // All blocks that the neighbour's next block needs, except for one on the chain.
  level(first + 2n, [neighbour, ...graph[neighbour].filter((chain) => chain !== CHAIN)]);
  ours.join(share(theirs.chains, ours.chains));
  // Each node adds a block of its own on the chain.
  ours.advance(CHAIN);
  theirs.advance(CHAIN);
  expect(ours.chains.tip(CHAIN).id).not.toBe(theirs.chains.tip(CHAIN).id);
  ours.pickChain = () => neighbour;
  ours.clockSkewMs = 2_000;
  const header = issueHeader();
  const tip = ours.chains.tip(neighbour);
  const far = [...graph.keys()].find((chain) => chain !== CHAIN && theirs.chains.heightOf(chain) === first + 1n)!;
  theirs.advance(far);
  ours.join(share(theirs.chains, ours.chains));
  expect(ours.chains.tip(CHAIN).id).toBe(theirs.chains.tip(CHAIN).id);
  expect(ours.chains.tip(neighbour)).toBe(tip);
  expect(ours.submit(header)).toMatchObject({ outcome: 'accepted', work: { late: true } });
  expect(ours.chains.tip(neighbour)).toBe(tip);
});

it('other miners find blocks by themselves, until the ledger stands still', () => {
  const { ledger } = setUp({ rivalMs: 10 });
  ledger.start();
  vi.advanceTimersByTime(1_000);
  const before = ledger.stats.rivalBlocks;
  expect(before).toBeGreaterThan(50);
  expect(before).toBeLessThan(400);
  ledger.standsStill = true;
  vi.advanceTimersByTime(1_000);
  expect(ledger.stats.rivalBlocks).toBe(before);
  ledger.standsStill = false;
  vi.advanceTimersByTime(1_000);
  expect(ledger.stats.rivalBlocks).toBeGreaterThan(before);
  ledger.close();
});

it('sets the targets itself, if that is asked for, and nobody else does', () => {
  const { ledger } = setUp({ retargets: true });
  expect(() => {
    ledger.difficulty = 5;
  }).toThrow('with the option retargets, the ledger sets the targets');
  expect(setUp().ledger.difficulty).toBe(1);
});

it('a chain reaches a height at once, also where blocks come after their New Cut', () => {
  const { ledger } = setUp({ cutLeadMs: 50 });
  const height = ledger.chains.heightOf(CHAIN) + 3n;
  ledger.advanceTo(CHAIN, height);
  expect(ledger.chains.heightOf(CHAIN)).toBe(height);
});

it('miners whose texts have line breaks in different places get different payloads', () => {
  const { ledger } = setUp();
  const payloads = [
    ledger.issueWork('a\nkeys-all', { predicate: 'keys-any', publicKeys: [] }),
    ledger.issueWork('a', { predicate: 'keys-all', publicKeys: ['keys-any'] }),
  ].map((work) => parseHeader(work.slice(WORK_OFFSET.header)).payloadHash);
  expect(payloads[0]).not.toEqual(payloads[1]);
});

it('closing cancels the blocks that are still to come', () => {
  const { ledger, updates, blocks } = setUp({ cutLeadMs: 50 });
  ledger.advance(CHAIN);
  vi.advanceTimersByTime(50);
  expect(blocks()).toHaveLength(1);
  ledger.advance(CHAIN);
  expect(updates).toHaveLength(2);
  ledger.close();
  expect(vi.getTimerCount()).toBe(0);
  expect(blocks()).toHaveLength(1);
});

it('closing ends the blocks of others and the new payloads, also after a pause of the ledger', () => {
  const { ledger } = setUp({ rivalMs: 10, refreshMs: 10 });
  ledger.start();
  expect(vi.getTimerCount()).toBe(2);
  vi.advanceTimersByTime(50);
  ledger.standsStill = true;
  vi.advanceTimersByTime(50);
  ledger.standsStill = false;
  const payload = ledger.issueWork('k:a').slice(WORK_OFFSET.header);
  const { rivalBlocks } = ledger.stats;
  ledger.close();
  expect(vi.getTimerCount()).toBe(0);
  vi.advanceTimersByTime(1_000);
  expect(ledger.stats.rivalBlocks).toBe(rivalBlocks);
  const { payloadHash } = parseHeader(ledger.issueWork('k:a').slice(WORK_OFFSET.header));
  expect(payloadHash).toEqual(parseHeader(payload).payloadHash);
});

it('a target that is set is copied', () => {
  const { ledger } = setUp();
  const target = new Uint8Array(32).fill(7);
  ledger.target = target;
  target.fill(9);
  expect(ledger.target).toEqual(new Uint8Array(32).fill(7));
});

it('the first blocks are as old as the options say, or of the time that they say', () => {
  const ageOf = (options: MockNodeOptions) => {
    const { ledger } = setUp(options);
    return ledger.nowUs() - ledger.chains.tip(CHAIN).header.creationTimeUs;
  };
  expect(ageOf({ firstBlockAgeMs: 7 })).toBe(7_000n);
  expect(ageOf({ firstBlockTimeMs: 1_700_000_000_000 - 9, firstBlockAgeMs: 7 })).toBe(9_000n);
});

it('only the next solution becomes an orphan when that was asked for', () => {
  const { ledger, issueHeader } = setUp();
  ledger.orphanNext(0);
  const isCanonical = () => {
    ledger.clockSkewMs += 1_000; // Each block is later than those below it.
    const { work, outcome } = ledger.submit(issueHeader());
    expect([outcome, work?.chain]).toEqual(['accepted', CHAIN]);
    return ledger.chains.tip(CHAIN).header.payloadHash.every((byte, i) => byte === work?.payload.payloadHash[i]);
  };
  const height = ledger.chains.heightOf(CHAIN);
  expect([isCanonical(), ledger.chains.heightOf(CHAIN)]).toEqual([false, height + 1n]);
  expect([isCanonical(), ledger.chains.heightOf(CHAIN)]).toEqual([true, height + 2n]);
});

it('followers of blocks get each canonical block once, and also those of another node’s cut', () => {
  const theirs = setUp().ledger;
  const { ledger: ours, issueHeader } = setUp();
  const followed: string[] = [];
  ours.followBlocks(({ header: { chain, height } }) => followed.push(`${chain} ${height - 5_000_000n}`));
  ours.submit(issueHeader());
  ours.advance(CHAIN);
  expect(followed.splice(0)).toEqual([`${CHAIN} 1`, '8 1', '13 1', '18 1', `${CHAIN} 2`]);
  theirs.advanceTo(CHAIN, 5_000_003n);
  ours.clockSkewMs = 1_000; // Otherwise, blocks would be in the future: each is later than those below it.
  ours.join(share(theirs.chains, ours.chains));
  expect(followed.at(-1)).toBe(`${CHAIN} 3`);
  expect(new Set(followed).size).toBe(followed.length);
  const levels = followed.map((each) => Number(each.split(' ')[1]));
  expect(levels).toEqual(levels.toSorted((a, b) => a - b));
});

it('every solution is counted, and the newest thousand are kept', () => {
  const stats = new LedgerStats();
  const header = new Uint8Array(HEADER_BYTES);
  const submit = (judgement: Judgement, isDuplicate = false) => stats.record(recordOf(header, judgement, isDuplicate));
  submit({ outcome: 'stale', reason: 'No associated Payload' });
  for (let i = 0; i < 999; i++) submit({ outcome: 'rejected', reason: `fault ${i}` }, i === 0);
  expect(stats).toMatchObject({ submissions: 1_000, accepted: 0, rejected: 999, stale: 1, duplicates: 1, orphaned: 0 });
  expect(stats.records).toHaveLength(1_000);
  expect(stats.records[0]).toMatchObject({ reason: 'No associated Payload', outcome: 'stale', workTimeUs: undefined });
  submit({ outcome: 'rejected', reason: 'the last' });
  expect(stats.records).toHaveLength(1_000);
  expect([stats.records[0], stats.records.at(-1)].map((record) => record?.reason)).toEqual(['fault 0', 'the last']);
});
