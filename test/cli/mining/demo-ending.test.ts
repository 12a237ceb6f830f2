import { expect, test } from 'vitest';
import { demoEnding } from '#pickaxe/cli/mining/demo.js';
import { type TrackedBlock, totalsOf } from '#pickaxe/node/blocks/block-index.js';
import { parseDecimal } from '#pickaxe/protocol/ledger/decimal.js';
import { madeBlock, madeHeader } from '../../node/blocks/pretend.ts';

const header = madeHeader(1, 1n);
const standing = (state: TrackedBlock['standing']['state']) => ({ state, depth: 1, nodesDisagree: false });
const reward = { account: 'k:me', reward: parseDecimal('0.97'), fees: parseDecimal('0.01') };
const won = madeBlock(header, { standing: standing('won'), reward });
const ending = (blocks: TrackedBlock[], balance: string) => demoEnding(totalsOf(blocks), parseDecimal(balance));

test('the account has what its blocks have earned', () => {
  expect(ending([won, madeBlock(header, { standing: standing('orphaned') })], '0.98').slice(0, 3)).toEqual([
    '2 accepted = 1 won (0 settled) + 1 orphaned + 0 pending, orphan rate 50.0 %',
    'earned 0.98 coins, each reward proven against the header of its block',
    'the account has 0.98 coins on the mock node, exactly what its blocks have earned',
  ]);
});

test.each([
  ['pending', 'with what undecided blocks may have earned'],
  ['orphaned', 'which is not what its blocks have earned'],
] as const)('where a block is %s, it is said why the account has more', (state, why) => {
  expect(ending([won, madeBlock(header, { standing: standing(state) })], '1.96')[2]).toBe(
    `the account has 1.96 coins on the mock node, ${why}`,
  );
});

test('without a block nothing is said of what blocks earn; the commands for a real node are named', () => {
  const lines = ending([], '0.0');
  expect(lines).toHaveLength(2);
  expect(lines[1]).toContain('pickaxe blocks');
});
