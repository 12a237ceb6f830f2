import { expect, test } from 'vitest';
import type { MinerEvent } from '#pickaxe/miner/events/events.js';
import { BLOCK_STATES } from '#pickaxe/node/blocks/fate.js';
import { logBlockReward, logBlockState } from '#pickaxe/rig/log/verdict-lines.js';
import { BlockCounts } from '#pickaxe/rig/status/counters.js';
import { linesOf } from '../status/fakes.ts';

type StateEvent = MinerEvent & { type: 'block-state' };
const BLOCK = { chain: 3, height: 42n, blockHash: 'h'.repeat(43), device: 'gpu0', isRelay: false };
const state = (more: Partial<StateEvent>): StateEvent => {
  const standing = { depth: 1, nodesDisagree: false, settledDepth: 6, settledInSeconds: 150 };
  return { type: 'block-state', ...BLOCK, state: 'won', previous: 'pending', ...standing, reason: '', ...more };
};

test.each<[Partial<StateEvent>, string]>([
  [
    { reward: '0.98123', fees: '0.0002' },
    'info chain 3 height 42 won 0.98123 coins and 0.0002 in fees, settles in ~3 min',
  ],
  [
    { reward: '0.98123', fees: '0.0', depth: 8, settledInSeconds: 0 },
    'info chain 3 height 42 won 0.98123 coins, settles now',
  ],
  [{}, 'info chain 3 height 42 won, reward not proven yet, settles in ~3 min'],
  [
    { state: 'settled', previous: 'won', fees: '0.1' },
    'debug chain 3 height 42 by gpu0 settled: earned fees of 0.1 and a reward that is not known',
  ],
  [{ state: 'settled', fees: '0.0', reward: '1.0' }, 'info chain 3 height 42 by gpu0 settled: earned 1.0 coins'],
  [{ paidTo: 'k:thief' }, 'info chain 3 height 42 won, but it pays k:thief, settles in ~3 min'],
  [{ state: 'orphaned', reason: 'why' }, 'warn chain 3 height 42 by gpu0 orphaned: why'],
  [{ state: 'never-entered', reason: 'why' }, 'warn chain 3 height 42 by gpu0 never entered: why'],
  [{ state: 'lost', previous: 'unanswered', reason: 'why' }, 'warn chain 3 height 42 by gpu0 lost: why'],
  [{ state: 'unanswered', reason: 'why' }, 'debug chain 3 height 42 by gpu0 unanswered: why'],
  [{ state: 'orphaned', previous: 'settled', reason: 'why' }, 'error chain 3 height 42 by gpu0 orphaned: why'],
  [{ state: 'pending' }, 'debug chain 3 height 42 by gpu0 pending'],
  [{ state: 'contested', nodesDisagree: true, reason: 'why' }, 'warn chain 3 height 42 by gpu0 contested: why'],
])('%o is logged', (more, line) => {
  expect(linesOf((log) => logBlockState(log, state(more)))).toEqual([line]);
});

const STOLEN = { paidTo: 'k:thief', account: 'k:me', source: 'http://one' } as const;

test('a reward that comes later is logged, and one that is false or somebody else’s', () => {
  const lines = linesOf((log) => {
    logBlockReward(log, { type: 'block-reward', ...BLOCK, reward: '1.0', fees: '0.5' });
    logBlockReward(log, { type: 'block-reward', ...BLOCK, fault: 'http://one: false' });
    logBlockReward(log, { type: 'block-reward', ...BLOCK, ...STOLEN });
    logBlockReward(log, { type: 'block-reward', ...BLOCK, ...STOLEN, isEarlier: true });
  });
  expect(lines).toEqual([
    'info chain 3 height 42 by gpu0: earned 1.0 coins and 0.5 in fees',
    'warn chain 3 height 42 by gpu0: the reward is not proven, because what a node says of it is false: http://one: false',
    'error chain 3 height 42 by gpu0 pays k:thief and not k:me, for whom it was mined: it earns nothing. http://one gave ' +
      'this work, or somebody between it and here who changed it, and is left. Find out which, use https, and start ' +
      'pickaxe again then',
    'error chain 3 height 42 by gpu0 pays k:thief and not k:me, for whom it was mined: it earns nothing. The work came from http://one',
  ]);
});

test('the blocks of a run are counted by what became of them, and always add up', () => {
  const counts = new BlockCounts();
  expect(counts.accepted).toBeNull();
  const { previous: _, ...found } = state({ state: 'pending' });
  let recorded = 0;
  for (const became of BLOCK_STATES) {
    const blockHash = became.padEnd(43);
    counts.add({ ...found, blockHash });
    counts.add(state({ blockHash, state: became }));
    recorded++;
    const { won, orphaned, pending, unanswered, lost } = counts.accepted!;
    expect(won + orphaned + pending + unanswered + lost).toBe(recorded);
  }
  counts.add(state({ blockHash: 'of an earlier run', isEarlier: true }));
  expect(counts.accepted).toEqual({
    won: 2,
    settled: 1,
    orphaned: 2,
    pending: 3,
    unanswered: 1,
    lost: 1,
    paidElsewhere: 0,
  });
});

test('a block that is settled is counted again when it is taken back, without being remembered', () => {
  const counts = new BlockCounts();
  const { previous: _, ...found } = state({ state: 'settled' });
  counts.add(found);
  // The block has another hash: its previous state is known from the event alone.
  counts.add(state({ blockHash: 'x'.repeat(43), previous: 'settled', state: 'orphaned' }));
  expect(counts.accepted).toEqual({
    won: 0,
    settled: 0,
    orphaned: 1,
    pending: 0,
    unanswered: 0,
    lost: 0,
    paidElsewhere: 0,
  });
});

test('blocks that pay another account are counted beside what became of them, but not those of earlier runs', () => {
  const counts = new BlockCounts();
  const { previous: _, ...found } = state({});
  counts.add(found);
  for (const more of [STOLEN, { ...STOLEN, isEarlier: true }, { fault: 'false' }] as const) {
    counts.addReward({ type: 'block-reward', ...BLOCK, ...more });
  }
  expect(counts.accepted).toMatchObject({ won: 1, paidElsewhere: 1 });
});
