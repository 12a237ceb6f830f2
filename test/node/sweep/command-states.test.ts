/** What is concluded from results, clocks and blocks about the commands of a transfer. */

import { describe, expect, it } from 'vitest';
import { CommandSearch, foundIn } from '#pickaxe/node/sweep/command-search.js';
import {
  type Searched,
  type SearchQuery,
  type SearchRange,
  SweepFault,
  type SweepLedger,
} from '#pickaxe/node/sweep/sweep-ledger.js';
import { plannedTransfer, type Sweep, type Transfer } from '#pickaxe/node/sweep/sweep-state.js';
import type { Command } from '#pickaxe/protocol/ledger/command/command.js';
import type { CommandResult } from '#pickaxe/protocol/ledger/command/results.js';
import { ONE } from '#pickaxe/protocol/ledger/decimal.js';
import { NEVER } from './world.ts';

const MADE_S = 1_000_000;
const TTL_S = 1_200;
/** End of the time to live. */
const END_S = MADE_S + TTL_S;
const MARGIN_S = 600;
const [CHAIN, TARGET] = [3, 7];
const CONFIRMATIONS = 5;
const EVIDENCE = { work: 'enough', nodes: 1, why: '' } as const;

function command(hash: string, creationTime = MADE_S): Command {
  const meta = { chainId: '3', sender: 'a', gasLimit: 600, gasPrice: 0.00000001, ttl: TTL_S, creationTime };
  const payload = { exec: { code: '1', data: {} } };
  return { hash, cmd: JSON.stringify({ networkId: 'development', payload, signers: [], meta, nonce: '' }), sigs: [] };
}
const [STEP0, STEP1] = [command('step 0'), command('step 1', MADE_S + 100)];

/** The cost of 7 units of gas. */
const GAS_COST = 70_000n;
const resultOf = (status: 'success' | 'failure', blockHeight: number | undefined): CommandResult =>
  ({
    gas: 7,
    result: status === 'success' ? { status, data: 1 } : { status, error: { message: 'it did not work' } },
    ...(blockHeight !== undefined && { metaData: { blockHeight } }),
  }) as CommandResult;

interface Situation {
  /** The chain's newest block, by the node. */
  readonly height?: number;
  readonly timeS?: number;
  /** This machine's time. */
  readonly nowS?: number;
  /** The results that the node tells, by request key. */
  readonly results?: Record<string, CommandResult>;
  /** What searches find, one after the other. */
  readonly found?: Searched['found'][];
  readonly sweep?: Partial<Sweep>;
}

function searching({
  height = 50,
  timeS = MADE_S,
  nowS = timeS,
  results = {},
  found = [],
  sweep = {},
}: Situation = {}) {
  const searches: [chain: number, query: SearchQuery, range: SearchRange][] = [];
  const ledger: Partial<SweepLedger> = {
    look: async () => ({ details: undefined, height, timeS }),
    result: async (chain, key) => (chain === (key === 'step 0' ? CHAIN : TARGET) ? results[key] : undefined),
    search: async (...given) => {
      searches.push([given[0], given[1], given[2]]);
      return { found: found.shift(), evidence: EVIDENCE };
    },
  };
  const common = { targetChain: TARGET, account: 'a', gasStation: null, transfers: [plannedTransfer(CHAIN, ONE, 700)] };
  const search = new CommandSearch(
    { ...common, ...sweep } as Sweep,
    ledger as SweepLedger,
    CONFIRMATIONS,
    () => 1000 * nowS,
  );
  return { search, searches };
}

const transferOf = (changes: Partial<Transfer> = {}): Transfer => ({ ...plannedTransfer(CHAIN, ONE, 700), ...changes });
const see = (situation: Situation, changes: Partial<Transfer> = {}) =>
  searching(situation).search.see(transferOf(changes), STEP0, NEVER);

describe('a command that is in a block', () => {
  it.each([
    [{ height: 50 }, 43, 7],
    [{ height: 43 }, 43, 0],
    // The node has gone back since it told its newest block.
    [{ height: 42 }, 43, 0],
    [{ height: 50 }, 0, 50],
  ])('is as deep as there are blocks above it: %j', async (newest, height, depth) => {
    const { step0, step1, earlierGasCost } = await see({
      ...newest,
      results: { 'step 0': resultOf('success', height) },
    });
    expect(step0).toEqual({ status: 'success', height, depth, gasCost: GAS_COST });
    expect([step1, earlierGasCost]).toEqual([null, 0n]);
  });

  it('may have failed, for a reason', async () => {
    const { step0 } = await see({ results: { 'step 0': resultOf('failure', 43) } });
    const inBlock = { height: 43, depth: 7, gasCost: GAS_COST };
    expect(step0).toEqual({ status: 'failure', reason: 'it did not work', ...inBlock });
    const found = { height: 43, depth: 7, result: resultOf('failure', 43) };
    expect(foundIn(found, STEP0)).toEqual(step0);
  });

  it('is looked for on the chain of its own step', async () => {
    const results = { 'step 0': resultOf('success', 40), 'step 1': resultOf('success', 45) };
    const { step0, step1 } = await see({ results }, { step1: STEP1 });
    expect([step0, step1]).toMatchObject([{ height: 40 }, { height: 45 }]);
  });
});

describe('a command that is in no block', () => {
  const over = END_S + MARGIN_S;
  const none = (isOver: boolean) => ({ status: 'none', isOver });

  it.each([
    ['a node dropped it', -1],
    ['the node tells no block', undefined],
  ])('is one if %s', async (_, height) => {
    const { step0 } = await see({ timeS: over, results: { 'step 0': resultOf('failure', height) } });
    expect(step0).toEqual(none(true));
  });

  it.each([
    ['a second before the margin is over, by both clocks', over - 1, over - 1, null, none(false)],
    ['after the margin', over, over, null, none(true)],
    ['by the node’s clock not yet', over - 1, over + 100, null, none(false)],
    ['an hour apart', over, over + 3_600, null, none(true)],
    ['signed as it says', over, over, 1000 * MADE_S, none(true)],
  ] as const)('has expired or not: %s', async (_, timeS, nowS, signedMs, expected) => {
    expect((await see({ timeS, nowS }, { signedMs })).step0).toEqual(expected);
  });

  it('has not expired while this machine’s clock is before that time, and that is said', async () => {
    const doubt =
      /^by the node's clock its time to live has ended, and by this machine's it has not: waits until (.*)$/;
    const { step0 } = await see({ timeS: over, nowS: over - 1 });
    expect(step0).toEqual({ ...none(false), doubt: expect.stringMatching(doubt) });
    const [, until] = doubt.exec((step0 as { doubt: string }).doubt)!;
    expect(until).toBe(`${new Date(over * 1000).toISOString().slice(0, 19)}Z`);
    // A clock that was ahead when the command was signed measures the time since then.
    const signedMs = 1000 * (MADE_S + 500);
    const later = await see({ timeS: over + 499, nowS: over + 499 }, { signedMs });
    expect(later.step0).toMatchObject({ isOver: false, doubt: expect.stringMatching(doubt) });
    expect((await see({ timeS: over + 500, nowS: over + 500 }, { signedMs })).step0).toEqual(none(true));
  });

  it.each([3_601, -3_601])('has not expired while the clocks are %i seconds apart', async (apart) => {
    const timeS = over + 10_000;
    const { step0 } = await see({ timeS, nowS: timeS + apart });
    expect(step0).toEqual({
      ...none(false),
      doubt: expect.stringMatching(/^the newest block of the node and this machine's clock are 60 minutes apart: set /),
    });
  });

  it('has no margin if it is the second step', async () => {
    const end = END_S + 100;
    const step1 = async (timeS: number) => (await see({ timeS }, { step1: STEP1 })).step1;
    expect([await step1(end - 1), await step1(end)]).toEqual([none(false), none(true)]);
  });
});

describe('the end of a transfer', () => {
  const inBlock = (status: 'success' | 'failure', height: number) => ({
    height,
    depth: 9,
    result: resultOf(status, height),
  });
  const claim = (status: 'success' | 'failure', height: number) =>
    foundIn({ height, depth: 2, result: resultOf(status, height) }, STEP0);
  const none = { status: 'none', isOver: true } as const;

  it('is read from the block of step 0', async () => {
    const { search, searches } = searching({ found: [inBlock('failure', 43)] });
    const seen = { step0: claim('failure', 43), step1: null, earlierGasCost: 0n };
    const { proven, evidence } = await search.proven(transferOf(), STEP0, seen, NEVER);
    expect(evidence).toBe(EVIDENCE);
    expect(proven).toEqual({ ...seen, step0: { ...seen.step0, depth: 9 } });
    const query = { what: 'command', key: 'step 0', madeS: MADE_S };
    expect(searches).toEqual([[CHAIN, query, { height: 43 }]]);
  });

  it('is read from the block of a step 1 that has succeeded, with the cost of earlier ones', async () => {
    const results = { 'earlier step 1': { ...resultOf('success', 8), reqKey: 'earlier step 1' } as CommandResult };
    const { search, searches } = searching({ results, found: [inBlock('success', 44)] });
    const seen = { step0: claim('success', 40), step1: claim('success', 44), earlierGasCost: 0n };
    const earlierStep1 = [{ requestKey: 'earlier step 1', gasPrice: 2n }];
    const { proven } = await search.proven(transferOf({ step1: STEP1, earlierStep1 }), STEP0, seen, NEVER);
    expect(proven).toMatchObject({ step0: seen.step0, step1: { status: 'success', depth: 9 }, earlierGasCost: 14n });
    expect(searches).toEqual([[TARGET, { what: 'command', key: 'step 1', madeS: MADE_S + 100 }, { height: 44 }]]);
  });

  it.each([
    ['another result', inBlock('failure', 43)],
    ['nothing', undefined],
  ])('is refused if the block has %s', async (_, found) => {
    const seen = { step0: claim('success', 43), step1: null, earlierGasCost: 0n };
    const proving = searching({ found: [found] }).search.proven(transferOf(), STEP0, seen, NEVER);
    await expect(proving).rejects.toThrow(SweepFault);
    const of1 = { step0: claim('success', 40), step1: claim('success', 43), earlierGasCost: 0n };
    const second = searching({ found: [found] }).search.proven(transferOf({ step1: STEP1 }), STEP0, of1, NEVER);
    await expect(second).rejects.toThrow(
      'the node says of step 1: success. But the block of height 43 does not say so: ask another node',
    );
  });

  it('is read from step 0 if the second step has failed', async () => {
    const { search, searches } = searching({ found: [inBlock('success', 40)] });
    const seen = { step0: claim('success', 40), step1: claim('failure', 44), earlierGasCost: 0n };
    await search.proven(transferOf({ step1: STEP1 }), STEP0, seen, NEVER);
    expect(searches[0][0]).toBe(CHAIN);
  });

  it('is in a block', async () => {
    const seen = { step0: none, step1: null, earlierGasCost: 0n };
    await expect(searching().search.proven(transferOf(), STEP0, seen, NEVER)).rejects.toThrow('ends nothing');
  });
});

describe('a search in the blocks', () => {
  const at = (height: number) => ({ height, depth: 1, result: resultOf('success', height) });

  it('for an expired step 0 is made again until it finds it', async () => {
    const { search, searches } = searching({ found: [undefined, at(43)] });
    const find = () => search.findStep0(transferOf(), STEP0, NEVER);
    expect(await find()).toEqual({ height: undefined, evidence: EVIDENCE });
    expect(await find()).toEqual({ height: 43, evidence: EVIDENCE });
    expect(await find()).toEqual({ height: 43 });
    const search1 = [
      CHAIN,
      { what: 'command', key: 'step 0', madeS: MADE_S },
      { untilS: END_S + 600, expiresS: END_S },
    ];
    expect(searches).toEqual([search1, search1]);
  });

  it('for a step 1 of anybody is made three times, each after enough new blocks', async () => {
    const { search, searches } = searching();
    const heights = [100, 104, 105, 101, 100, 130, 200];
    const made: boolean[] = [];
    for (const height of heights) made.push((await search.findStep1(CHAIN, STEP0, height, NEVER)) !== undefined);
    // At 101 the height has changed by 4, and at 100 by 5; after three searches there is none.
    expect(made).toEqual([true, false, true, false, true, false, false]);
    expect(searches).toEqual(
      Array.from({ length: 3 }, () => [TARGET, { what: 'step 1', key: 'step 0', madeS: MADE_S }, {}]),
    );
    // Each chain has searches of its own.
    expect(await search.findStep1(CHAIN + 1, STEP0, 200, NEVER)).toBeDefined();
  });

  it('for a step 1 that was found reads only its block, until that has it no more', async () => {
    const { search, searches } = searching({ found: [at(77), at(77), undefined] });
    const find = async (height: number) => (await search.findStep1(CHAIN, STEP0, height, NEVER))?.found?.height;
    expect([await find(100), await find(100), await find(100), await find(100)]).toEqual([
      77,
      77,
      undefined,
      undefined,
    ]);
    expect(searches.map(([, , range]) => range)).toEqual([{}, { height: 77 }, { height: 77 }]);
    await find(105);
    expect(searches.at(-1)![2]).toEqual({});
  });
});
