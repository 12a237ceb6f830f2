/** The records of sent blocks in the block log, and their maximum number. */

import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { BlockRecorder, type BlockRecorderOptions } from '#pickaxe/app/composition/block-recorder.js';
import type { BlockEvent } from '#pickaxe/miner/events/events.js';
import { totalsOf } from '#pickaxe/node/blocks/block-index.js';
import { BlockStore } from '#pickaxe/node/blocks/block-log.js';
import { FakeClock, madeHeader } from '../../node/blocks/pretend.ts';

function setUp(more: Partial<BlockRecorderOptions> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'pickaxe-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const open = () => new BlockStore({ folder, warn: (line) => expect.fail(line) });
  const store = open();
  onTestFinished(() => store.close());
  const clock = new FakeClock();
  const searched = { expectedBlocks: 0 };
  const leftOut = vi.fn();
  const recorder = new BlockRecorder({
    store,
    clock,
    tally: { summary: () => searched as ReturnType<BlockRecorderOptions['tally']['summary']> },
    miner: { account: 'k:me' },
    networkOf: () => 'mainnet01',
    isFull: () => false,
    leftOut,
    speed: 1,
    ...more,
  });
  return {
    clock,
    recorder,
    searched,
    leftOut,
    path: store.path,
    /** Reads the file as another process would. */
    reread: async () => {
      await store.refresh();
      const again = open();
      await again.refresh();
      return again;
    },
  };
}

const about = (height: number, isRelay = false) => ({
  device: 'gpu0',
  isRelay,
  chain: 3,
  height: BigInt(height),
  nonce: 0n,
  isBlock: true,
  isShare: false,
  difficulty: 1_000,
  header: madeHeader(3, BigInt(height)),
  source: 'http://one',
});
const sent = (...at: Parameters<typeof about>) => ({ type: 'sent-block', ...about(...at) }) as const;
const answered = <Type extends Exclude<BlockEvent['type'], 'sent-block'>>(
  type: Type,
  ...at: Parameters<typeof about>
) => ({ type, ...about(...at), answerSeconds: 0.02 });

test('a block stands in the log while its answer is awaited, and counts as accepted once that has come', async () => {
  const { recorder, reread } = setUp();
  const block = recorder.sent(sent(42))!;
  const before = await reread();
  expect([...before.blocks]).toMatchObject([
    { hash: block.hash, isAnswered: false, answerSeconds: 0, standing: { state: 'unanswered' } },
  ]);
  expect(recorder.answered(answered('accepted-block', 42))).toEqual(block);
  const after = await reread();
  expect([...after.blocks]).toMatchObject([
    { hash: block.hash, isAnswered: true, answerSeconds: 0.02, standing: { state: 'pending' } },
  ]);
});

test('a block whose answer was lost stays as it was, and one that was refused is hidden', async () => {
  const { recorder, searched, reread } = setUp();
  for (const height of [1, 2]) {
    searched.expectedBlocks += 0.5;
    recorder.sent(sent(height));
  }
  expect(recorder.answered(answered('unanswered-block', 1))).toBeDefined();
  const refused = recorder.answered(answered('refused-block', 2))!;
  searched.expectedBlocks += 0.25;
  recorder.end();
  const store = await reread();
  expect([...store.blocks]).toMatchObject([{ height: 1n, standing: { state: 'unanswered' }, answerSeconds: 0.02 }]);
  expect([...store.hiddenBlocks]).toMatchObject([{ hash: refused.hash, isRefused: true }]);
  const totals = () => totalsOf(store.blocks, store.searchedExpectedBlocks);
  // The hashes for the refused block count nevertheless.
  expect(totals()).toMatchObject({ accepted: 0, unanswered: 1, lost: 0, expectedBlocks: 1.25 });
  const standing = { state: 'lost', depth: 1, nodesDisagree: false } as const;
  store.add({ type: 'state', hash: refused.hash, atMs: 0, standing });
  expect(totals()).toMatchObject({ accepted: 0, unanswered: 1, lost: 0, pending: 0, expectedBlocks: 1.25 });
  store.add({ type: 'state', hash: refused.hash, atMs: 0, standing: { ...standing, state: 'won' } });
  expect(totals()).toMatchObject({ accepted: 1, won: 1, unanswered: 1, expectedBlocks: 1.25 });
  await store.close();
});

test('blocks that come faster than ten a minute are counted, and the log grows no more than that', async () => {
  const { recorder, clock, searched, leftOut, path, reread } = setUp();
  const accept = (from: number, to: number) => {
    for (let height = from; height < to; height++) {
      searched.expectedBlocks += 2;
      recorder.sent(sent(height, height % 4 === 0));
      recorder.answered(answered(height % 8 === 1 ? 'unanswered-block' : 'accepted-block', height, height % 4 === 0));
    }
  };
  accept(0, 2_000);
  recorder.writeCounts();
  recorder.writeCounts();
  const first = await reread();
  expect(first.size).toBe(1_000);
  expect(first.notFollowed).toEqual({ own: 625, relayed: 250, unanswered: 125 });
  expect(leftOut).toHaveBeenCalledTimes(1_000);
  const { size } = statSync(path);
  expect(size).toBeLessThan(1_000 * 1_400);
  clock.advance(60_000);
  accept(2_000, 3_000);
  recorder.end();
  const second = await reread();
  expect(second.size).toBe(1_010);
  expect(statSync(path).size - size).toBeLessThan(11 * 1_400);
  const totals = totalsOf(second.blocks, second.searchedExpectedBlocks, second.notFollowed);
  expect([totals.accepted + totals.notFollowed, totals.unanswered]).toEqual([2_625, 375]);
  expect(totals.expectedBlocks).toBe(6_000);
  expect(totals.luck).toBe((3_000 - 750 - 375) / 6_000);
  expect(readFileSync(path, 'utf8').match(/"type":"not-followed"/g)).toHaveLength(2);
});

test('on a network that is six times as fast, six times as many blocks are recorded', () => {
  const { recorder, clock, leftOut } = setUp({ speed: 6 });
  const send = (from: number, to: number) => {
    for (let height = from; height < to; height++) recorder.sent(sent(height));
    return leftOut.mock.calls.length;
  };
  expect(send(0, 1_000)).toBe(0);
  clock.advance(60_000);
  expect(send(1_000, 1_061)).toBe(1);
});

test('an answer to a block that was not seen to be sent is a line of its own only if it says more', async () => {
  const { recorder, path, reread } = setUp();
  for (const [height, type] of ['accepted-block', 'unanswered-block', 'refused-block'].entries()) {
    expect(recorder.answered(answered(type as 'accepted-block', height))).toBeDefined();
  }
  await reread();
  const lines = readFileSync(path, 'utf8').trim().split('\n');
  expect(lines.map((line) => JSON.parse(line)).map(({ type, outcome }) => [type, outcome])).toEqual([
    ['found', undefined],
    ['found', undefined],
    ['found', undefined],
    ['answer', 'refused'],
  ]);
});

test('while as many blocks are followed as can be, others are counted', async () => {
  const { recorder, reread } = setUp({ isFull: () => true });
  expect(recorder.sent(sent(1))).toBeUndefined();
  expect(recorder.answered(answered('refused-block', 1))).toBeUndefined();
  expect(recorder.answered(answered('accepted-block', 2))).toBeUndefined();
  recorder.end();
  const store = await reread();
  expect([store.size, store.notFollowed]).toEqual([0, { own: 1, relayed: 0, unanswered: 0 }]);
});
