import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type TrackedBlock, totalsOf } from '#pickaxe/node/blocks/block-index.js';
import { BLOCK_STATES } from '#pickaxe/node/blocks/fate.js';
import { parseDecimal } from '#pickaxe/protocol/ledger/decimal.js';
import { madeBlock, madeHeader } from './pretend.ts';

const header = madeHeader(1, 1n);
const inState = (state: TrackedBlock['standing']['state'], more: Partial<TrackedBlock> = {}) =>
  madeBlock(header, { standing: { state, depth: 0, nodesDisagree: false }, ...more });

it('always holds: accepted = won + orphaned + pending', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...BLOCK_STATES)), (states) => {
      const { accepted, won, orphaned, pending, unanswered, lost, byState } = totalsOf(states.map((it) => inState(it)));
      expect(won + orphaned + pending).toBe(accepted);
      expect(accepted + unanswered + lost).toBe(states.length);
      expect(Object.values(byState).reduce((sum, count) => sum + count, 0)).toBe(states.length);
    }),
    { numRuns: 30 },
  );
});

it('adds up exactly what the blocks on the chain have earned, and counts those that are not proven', () => {
  const reward = (text: string, fees = '0') => {
    return { account: 'k:me', reward: parseDecimal(text), fees: parseDecimal(fees) };
  };
  const blocks = [
    inState('won', { reward: reward('0.1') }),
    inState('settled', { reward: reward('0.2', '0.000000000001') }),
    inState('won', { reward: { account: 'k:me', reward: undefined, fees: 5n } }),
    inState('won'),
    inState('orphaned', { reward: reward('7') }),
  ];
  expect(totalsOf(blocks)).toMatchObject({ earned: parseDecimal('0.300000000006'), unproven: 1, orphanRate: 0.2 });
});

it('knows luck from what was expected, without what relays brought, and the median latency', () => {
  const blocks = [
    inState('won', { expectedBlocks: 0.5, switchSeconds: 0.03 }),
    inState('won', { expectedBlocks: 1, switchSeconds: 0.01 }),
    inState('won', { expectedBlocks: 0, isRelay: true, switchSeconds: 0.02 }),
  ];
  expect(totalsOf(blocks, 2.5)).toMatchObject({ expectedBlocks: 4, luck: 0.5, switchSeconds: 0.02 });
  expect(totalsOf([])).toMatchObject({ luck: undefined, orphanRate: undefined, switchSeconds: undefined });
});

it('counts a block whose answer was lost neither as accepted nor as an orphan, until a chain shows that it was taken', () => {
  const unanswered = [inState('unanswered'), inState('lost')];
  const totals = totalsOf([inState('won'), ...unanswered], 1);
  expect(totals).toMatchObject({ accepted: 1, won: 1, orphanRate: 0, unanswered: 1, lost: 1, luck: 0.25 });
  const found = [inState('won', { isAnswered: false }), inState('orphaned', { isAnswered: false })];
  expect(totalsOf(found)).toMatchObject({ accepted: 2, won: 1, orphaned: 1, orphanRate: 0.5, unanswered: 0, lost: 0 });
});
