/** Sweeps on chains that change: reorganisations, forgotten results, and steps that others have taken. */

import { describe, expect, it } from 'vitest';
import { planSweep, sweepOf } from '#pickaxe/node/sweep/plan.js';
import type { SearchRange, SweepLedger } from '#pickaxe/node/sweep/sweep-ledger.js';
import { expectAllDone, STARTED } from './survive.ts';
import { changed, left, NEVER, sent, TARGET, WISHES, World } from './world.ts';

describe('blocks with somebody else’s step 1', () => {
  type Search = SweepLedger['search'];

  /** Somebody else has just finished both transfers. @param around answers a search for a step 1 */
  async function finished(around: (search: () => ReturnType<Search>, range: SearchRange) => ReturnType<Search>) {
    const { world, total, runner } = await left();
    world.grow(2);
    for (const { chain, step0 } of runner.sweep.transfers) world.node.commands.finishTransfer(chain, step0!.hash);
    const ranges: SearchRange[] = [];
    const search: Search = (chain, query, range, stop) => {
      const ask = () => world.ledger.search(chain, query, range, stop);
      if (query.what !== 'step 1') return ask();
      ranges.push(range);
      return around(ask, range);
    };
    const ledger = changed(world.ledger, { search });
    return { world, total, ranges, runner: world.runner(runner.sweep, { ledger }) };
  }

  it('are searched again once the chain has grown, when the node’s cut was behind', async () => {
    const { world, total, ranges, runner } = await finished(async (search) => {
      const searched = await search();
      return searched.found && searched.found.depth < 2 ? { ...searched, found: undefined } : searched;
    });
    for (let i = 0; i < 6; i++) await runner.round(NEVER);
    expect(ranges).toEqual([{}, {}]); // one for each transfer
    const sweep = await world.finish(runner);
    expectAllDone(world, sweep, total);
    expect(sweep.transfers.map(({ outcome }) => outcome?.state === 'done' && outcome.by)).toEqual(
      Array(2).fill('somebody else'),
    );
  });

  it('are searched once, and then only that of the height where it was found', async () => {
    const { world, total, ranges, runner } = await finished((search) => search());
    const height = Number(world.node.ledger.chains.heightOf(TARGET));
    await runner.round(NEVER);
    await runner.round(NEVER);
    expectAllDone(world, await world.finish(runner), total);
    expect(ranges.slice(0, 2)).toEqual([{}, {}]);
    expect(ranges.slice(2)).toEqual(Array(ranges.length - 2).fill({ height: expect.any(Number) }));
    for (const range of ranges.slice(2)) expect(Math.abs(range.height! - height)).toBeLessThanOrEqual(1);
  });

  it('are searched anew when it is no longer where it was found, three times in one run', async () => {
    let isGone = true;
    const { world, total, ranges, runner } = await finished(async (search, { height }) => {
      const searched = await search();
      if (!isGone) return searched;
      return { ...searched, found: height === undefined ? { ...searched.found!, depth: 0 } : undefined };
    });
    for (let i = 0; i < 20; i++) {
      await runner.round(NEVER);
      world.grow();
    }
    expect(ranges.filter(({ height }) => height === undefined)).toHaveLength(2 * 3);
    expect(runner.sweep.transfers.map(({ outcome }) => outcome)).toEqual([null, null]);
    isGone = false;
    expectAllDone(world, await world.finish(world.runner(world.store.load()!)), total);
  });
});

describe('a reorganisation', () => {
  it.each(Array.from({ length: 5 }, (_, round) => round))('after round %i loses and doubles nothing', async (round) => {
    const world = await World.make();
    const total = world.total();
    const { ledger } = world.node;
    const runner = world.runner(await world.begin());
    let blocksLost = 0;
    const sweep = await world.finish(runner, (now) => {
      if (now !== round) return;
      const { chain, step0 } = runner.sweep.transfers[0];
      const store = ledger.chains.blocksOf(chain);
      const height = step0 && ledger.chains.tip(chain).payload.state.heightOf(step0.hash);
      if (height === undefined || height === null) return;
      ledger.reorganise(store.canonical(height)!);
      blocksLost += 1;
    });
    expect(blocksLost).toBe(round === 0 ? 0 : 1);
    expectAllDone(world, sweep, total);
  });

  it('of the target chain makes step 1 wait again', async () => {
    const world = await World.make();
    const total = world.total();
    const { chains } = world.node.ledger;
    const runner = world.runner(await world.begin());
    let isDone = false;
    const sweep = await world.finish(runner, () => {
      const { step1 } = runner.sweep.transfers[0];
      const height = step1 && chains.tip(TARGET).payload.state.heightOf(step1.hash);
      if (isDone || height === undefined || height === null) return;
      isDone = true;
      world.node.ledger.reorganise(chains.blocksOf(TARGET).canonical(height)!);
    });
    expect(isDone).toBe(true);
    expectAllDone(world, sweep, total);
  });

  it('that makes a proof useless has it fetched again', async () => {
    const world = await World.make();
    const total = world.total();
    const { ledger } = world.node;
    const proofs = new Set<string>();
    const seeing = changed(world.ledger, {
      proof: async (...asked) => {
        const answer = await world.ledger.proof(...asked);
        if (answer.kind === 'proof' && asked[0] === 1) proofs.add(answer.proof);
        return answer;
      },
      // Just after the proof was fetched, the block that it is about is replaced.
      tryOut: async (...asked) => {
        const { chain, step0 } = runner.sweep.transfers[0];
        const height = ledger.chains.tip(chain).payload.state.heightOf(step0!.hash);
        if (proofs.size === 1 && height !== undefined && !isReplaced) {
          isReplaced = true;
          ledger.reorganise(ledger.chains.blocksOf(chain).canonical(height)!);
        }
        return world.ledger.tryOut(...asked);
      },
    });
    let isReplaced = false;
    const runner = world.runner(await world.begin(), { ledger: seeing });
    const sweep = await world.finish(runner);
    expect(isReplaced).toBe(true);
    expect(proofs.size).toBe(2);
    expect(world.notes.join('\n')).toContain(
      '1: step 1 would fail, so its proof is fetched again: Continuation error: spv',
    );
    expectAllDone(world, sweep, total);
  });
});

describe('a step 0 that a reorganisation has removed', () => {
  /** Each chain has a block with its step 0. Then the first one's is replaced, and no other block takes the command. */
  async function removed() {
    const { world, total, runner } = await left();
    const { chain, step0, leftAt } = runner.sweep.transfers[0];
    expect(leftAt).not.toBeNull();
    const { ledger, commands } = world.node;
    commands.badlist(step0!.hash);
    ledger.reorganise(ledger.chains.blocksOf(chain).canonical(BigInt(leftAt!))!);
    return { world, total, runner, chain };
  }

  it('has failed once it can be in no block any more, and the next sweep brings the coins', async () => {
    const { world, total, runner, chain } = await removed();
    // The command's time to live ends after half an hour, and no reorganisation is deeper than ten minutes.
    for (const minutes of [29, 5, 4]) {
      world.node.ledger.clockSkewMs += minutes * 60_000;
      world.grow();
      await runner.round(NEVER);
      expect(runner.sweep.transfers[0].outcome).toBeNull();
    }
    world.node.ledger.clockSkewMs += 5 * 60_000;
    const sweep = await world.finish(runner);
    expect(sweep.transfers.map(({ outcome }) => outcome?.state)).toEqual(['failed', 'done']);
    expect(sweep.transfers[0].outcome).toMatchObject({ reason: expect.stringContaining('no block has it') });
    expect(world.balance(chain)).toBe(STARTED);
    expect(world.total()).toBe(total);

    const plan = sweepOf(await planSweep(world.ledger, WISHES, NEVER), 'development', 1_800_000_000_000);
    expect(plan.transfers.map((it) => it.chain)).toEqual([chain]);
    world.store.begin(plan);
    const second = await world.finish(world.runner(plan));
    expect(second.transfers[0].outcome?.state).toBe('done');
    expect(second.transfers[0].step0!.hash).not.toBe(sweep.transfers[0].step0!.hash);
    expect([1, 2].map((each) => world.events(each, 'TRANSFER_XCHAIN'))).toEqual([1, 1]);
    expect(world.events(TARGET, 'X_RESUME')).toBe(2);
    expect(world.total()).toBe(total);
  });

  it('goes on if another block takes it after all', async () => {
    const { world, total, runner } = await left();
    const { chain, leftAt } = runner.sweep.transfers[0];
    const { ledger } = world.node;
    ledger.reorganise(ledger.chains.blocksOf(chain).canonical(BigInt(leftAt!))!);
    world.node.ledger.clockSkewMs += 3 * 3_600_000;
    expectAllDone(world, await world.finish(world.runner(world.store.load()!)), total);
  });
});

describe('a node that has forgotten what came of step 0', () => {
  /** Makes a step 0 that its own run has never seen in a block. */
  async function forgotten() {
    const { world, total } = await sent();
    world.grow(2);
    world.node.ledger.clockSkewMs += 24 * 3_600_000;
    world.grow(2);
    return { world, total };
  }

  it('does not make it fail: its blocks have it', async () => {
    const { world, total } = await forgotten();
    let searches = 0;
    const forgetful = changed(world.ledger, {
      result: async () => undefined,
      search: (...asked) => {
        searches++;
        return world.ledger.search(...asked);
      },
    });
    const later = world.runner(world.store.load()!, { ledger: forgetful });
    for (let i = 0; i < 3; i++) expect(await later.round(NEVER)).toBe(true);
    expect(world.notes.at(-1)).toMatch(/is in the block of height \d+, .* ask another node$/);
    expect(searches).toBe(2);
    expectAllDone(world, await world.finish(world.runner(world.store.load()!)), total);
  });

  it('and has no such blocks any more, decides nothing', async () => {
    const { world } = await forgotten();
    world.node.server.faults = [{ endpoint: 'block', kind: 'status', status: 404 }];
    const forgetful = changed(world.ledger, { result: async () => undefined });
    const later = world.runner(world.store.load()!, { ledger: forgetful });
    expect(await later.round(NEVER)).toBe(true);
    expect(later.sweep.transfers.map(({ outcome }) => outcome)).toEqual([null, null]);
    expect(world.notes.at(-1)).toContain('404');
  });
});
