/** What the arrival of coins has cost, if several commands were made for it. */

import { describe, expect, it } from 'vitest';
import { CommandSearch } from '#pickaxe/node/sweep/command-search.js';
import type { InBlock, SweepLedger } from '#pickaxe/node/sweep/sweep-ledger.js';
import { plannedTransfer, type Sweep, type Transfer } from '#pickaxe/node/sweep/sweep-state.js';
import type { CommandResult } from '#pickaxe/protocol/ledger/command/results.js';
import { ONE } from '#pickaxe/protocol/ledger/decimal.js';
import { NEVER } from './world.ts';

const result = (reqKey: string, gas: number, blockHeight: number | undefined): CommandResult =>
  ({ reqKey, gas, ...(blockHeight !== undefined && { metaData: { blockHeight } }) }) as CommandResult;

/** What a node says about each earlier command for step 1, and the gas price of each. */
const RESULTS: readonly (CommandResult | undefined)[] = [
  result('in a block', 10, 7),
  result('in the first block', 200, 0),
  result('dropped', 4_000, -1),
  result('without metadata', 50_000, undefined),
  undefined,
];
const transfer: Transfer = {
  ...plannedTransfer(1, ONE, 700),
  earlierStep1: RESULTS.map((it) => ({ requestKey: it?.reqKey ?? 'unknown', gasPrice: 3n })),
};

function costOf(proven?: CommandResult, gasStation: string | null = null): Promise<bigint> {
  const ledger: Partial<SweepLedger> = {
    result: async (_, requestKey) => RESULTS.find((it) => it?.reqKey === requestKey),
  };
  const sweep = { targetChain: 0, gasStation } as Sweep;
  const commands = new CommandSearch(sweep, ledger as SweepLedger, 5, () => 0);
  const found: InBlock | undefined = proven && { height: 7, depth: 1, result: proven };
  return commands.earlierGasCost(transfer, found, NEVER);
}

describe('earlier commands for the arrival', () => {
  it('cost their gas if they are in a block, and nothing if they are in none', async () => {
    expect(await costOf()).toBe(3n * 210n);
  });

  it('cost what their block says, where that was read', async () => {
    expect(await costOf(result('in a block', 30, 7))).toBe(3n * 230n);
    expect(await costOf(result('dropped', 1_000, undefined))).toBe(3n * 1_210n);
    expect(await costOf(result('unknown', 1_000, undefined))).toBe(3n * 1_210n);
  });

  it('cost nothing if a gas station pays', async () => {
    expect(await costOf(undefined, 'station')).toBe(0n);
  });
});
