import { describe, expect, it } from 'vitest';
import { planSweep, sweepOf } from '#pickaxe/node/sweep/plan.js';
import { needsKeys } from '#pickaxe/node/sweep/runner.js';
import { type SearchRange, SweepFault, type SweepLedger } from '#pickaxe/node/sweep/sweep-ledger.js';
import { lifeOf, rootOfProof, signed, step1Of } from '#pickaxe/node/sweep/transfer-commands.js';
import type { Command } from '#pickaxe/protocol/ledger/command/command.js';
import { parsePayload, publicMetaOf } from '#pickaxe/protocol/ledger/command/command-payload.js';
import { formatDecimal, parseDecimal } from '#pickaxe/protocol/ledger/decimal.js';
import { expectAllDone, STARTED, surviveEachKill } from './survive.ts';
import {
  ACCOUNT,
  CONFIRMATIONS,
  changed,
  Killed,
  Killer,
  NEVER,
  PAIR,
  SECRET,
  TARGET,
  WISHES,
  World,
  withSend,
} from './world.ts';

/** @returns a world in which step 0 of each chain has been sent, and the sum of its coins before */
async function sent() {
  const world = await World.make();
  const total = world.total();
  const runner = world.runner(await world.begin());
  await runner.round(NEVER);
  return { world, total, runner };
}

/** Like `sent`, once each chain has a block with its step 0. */
async function left() {
  const { world, total, runner } = await sent();
  world.grow();
  await runner.round(NEVER);
  return { world, total, runner };
}

describe('a sweep', () => {
  it('brings the coins of all chains to one', async () => {
    const world = await World.make();
    const total = world.total();
    const sweep = await world.finish(world.runner(await world.begin()));
    expect(sweep.transfers).toHaveLength(2);
    expectAllDone(world, sweep, total);
    expect(world.store.load()).toEqual(sweep);
    const spent = sweep.transfers.map(({ outcome }) => (outcome?.state === 'done' ? outcome.gasCost : 0n));
    const fees = world.total() - [0, 1, 2].reduce((sum, chain) => sum + world.balance(chain), 0n);
    const others = total - 3n * STARTED;
    expect(spent[0] + spent[1]).toBe(fees - others);
    expect(sweep.transfers.map(({ outcome }) => outcome?.state === 'done' && outcome.by)).toEqual(['us', 'us']);
  });

  it('lets a gas station pay for the arrival, and then needs no key', async () => {
    const chains = [1, 2];
    const world = await World.make({ gasStation: true, accounts: [{ account: ACCOUNT, balance: '5.0', chains }] });
    const total = world.total();
    const begun = await world.begin({ gasStation: 'kadena-xchain-gas' });
    expect(needsKeys(begun)).toBe(true);
    const runner = world.runner(begun);
    await runner.round(NEVER);
    expect(needsKeys(runner.sweep)).toBe(false);
    const sweep = await world.finish(world.runner(world.store.load()!, { pairs: [] }));
    expect(sweep.transfers.map(({ outcome }) => outcome?.state)).toEqual(['done', 'done']);
    expect(world.balance(TARGET)).toBe(sweep.transfers[0].amount + sweep.transfers[1].amount);
    expect(world.total()).toBe(total);
    for (const { chain, amount, outcome } of sweep.transfers) {
      // The gas that the station pays for is not the account's cost.
      const gasCost = parseDecimal('5.0') - world.balance(chain) - amount;
      expect(outcome).toMatchObject({ state: 'done', gasCost });
    }
  });

  it('signs nothing for which a gas station pays, although it has the keys', async () => {
    const world = await World.make({ gasStation: true });
    const sweep = await world.finish(world.runner(await world.begin({ gasStation: 'kadena-xchain-gas' })));
    for (const { step1, outcome } of sweep.transfers) {
      expect(outcome).toMatchObject({ state: 'done', by: 'us' });
      expect([step1!.sigs, parsePayload(step1!.cmd).signers]).toEqual([[], []]);
    }
  });

  it('needs the keys while something is to be signed', async () => {
    const world = await World.make();
    const begun = await world.begin();
    expect(() => world.runner(begun, { pairs: [] })).toThrow('needs the keys');
  });
});

describe('a sweep that was killed', () => {
  it('goes on from each step', () => surviveEachKill('ascending', 'before'));

  it('goes on although it is killed at every step in turn', async () => {
    const world = await World.make();
    const total = world.total();
    await world.begin();
    for (let at = 0; ; at = (at + 1) % 4) {
      const killer = new Killer(at, at % 2 === 0 ? 'before' : 'after');
      const options = { save: killer.save(world), ledger: killer.ledger(world) };
      try {
        const sweep = await world.finish(world.runner(world.store.load()!, options));
        expectAllDone(world, sweep, total);
        return;
      } catch (error) {
        if (!(error instanceof Killed)) throw error;
        world.grow();
      }
    }
  });

  it('goes on after hours, when the first step was on its way', async () => {
    const world = await World.make();
    const total = world.total();
    const killer = new Killer(1, 'after');
    const options = { save: killer.save(world), ledger: killer.ledger(world) };
    await expect(world.finish(world.runner(await world.begin(), options))).rejects.toThrow(Killed);
    world.grow();
    world.node.ledger.clockSkewMs += 5 * 3_600_000;
    world.grow(2);
    const sweep = await world.finish(world.runner(world.store.load()!));
    expectAllDone(world, sweep, total);
  });
});

describe('answers of /send that are lost', () => {
  it.each([1, 2])('do not double anything (%i of each)', async (losses) => {
    const world = await World.make();
    const total = world.total();
    const lost = new Map<string, number>();
    const ledger = withSend(world.ledger, async (send, _, { hash }) => {
      const sent = await send();
      const before = lost.get(hash) ?? 0;
      lost.set(hash, before + 1);
      if (before < losses) throw new SweepFault('the answer was lost');
      return sent;
    });
    const sweep = await world.finish(world.runner(await world.begin(), { ledger }));
    expectAllDone(world, sweep, total);
    expect(lost.size).toBe(4);
  });

  it('are those of the node itself, too', async () => {
    const world = await World.make();
    const total = world.total();
    world.node.server.faults = [{ endpoint: 'send', kind: 'lost-answer', times: 3 }];
    const sweep = await world.finish(world.runner(await world.begin()));
    expectAllDone(world, sweep, total);
    expect(world.node.server.faults[0].times).toBe(0);
    expect(world.notes.join('\n')).not.toContain('refused');
  });

  it('are not taken for answers of a node that is away', async () => {
    const world = await World.make();
    const total = world.total();
    world.node.server.faults = [{ endpoint: 'any', kind: 'unavailable', probability: 0.3, times: 40 }];
    const begun = await retried(() => world.begin());
    const sweep = await world.finish(world.runner(begun), undefined, 100);
    expect(world.notes.join('\n')).toContain('503');
    expectAllDone(world, sweep, total);
  });
});

describe('somebody else', () => {
  it('may finish a transfer before us', async () => {
    const { world, total, runner } = await sent();
    world.grow();
    for (const { chain, step0 } of runner.sweep.transfers) world.node.commands.finishTransfer(chain, step0!.hash);
    const sweep = await world.finish(runner);
    expectAllDone(world, sweep, total);
    expect(sweep.transfers.map(({ outcome }) => outcome?.state === 'done' && outcome.by)).toEqual([
      'somebody else',
      'somebody else',
    ]);
    expect(sweep.transfers.every(({ step1 }) => step1 === null)).toBe(true);
  });

  it('may do it while our own step 1 is on its way', async () => {
    const world = await World.make();
    const total = world.total();
    const chain = 1;
    let isFinished = false;
    // The step 1 of the other sender gets into the same block, before ours.
    const ledger = withSend(world.ledger, async (send, sentTo) => {
      if (sentTo !== TARGET || isFinished) return send();
      isFinished = true;
      const { step0 } = runner.sweep.transfers.find((it) => it.chain === chain)!;
      world.node.commands.finishTransfer(chain, step0!.hash);
      return send();
    });
    const runner = world.runner(await world.begin(), { ledger });
    const sweep = await world.finish(runner);
    expectAllDone(world, sweep, total);
    const first = sweep.transfers.find((it) => it.chain === chain)!;
    expect(first.outcome).toMatchObject({ state: 'done', by: 'somebody else' });
    // Our step 1 has failed, and has cost gas.
    expect(first.outcome?.state === 'done' && first.outcome.gasCost).toBeGreaterThan(621n * 10_000n);
  });

  it('is not said to have finished what our own step 1 has, although the node has forgotten that', async () => {
    const world = await World.make();
    const total = world.total();
    const forgetful = changed(world.ledger, {
      result: async (chain, ...asked) => (chain === TARGET ? undefined : await world.ledger.result(chain, ...asked)),
    });
    const sweep = await world.finish(world.runner(await world.begin(), { ledger: forgetful }));
    expectAllDone(world, sweep, total);
    const spent = sweep.transfers.map(({ outcome }) =>
      outcome?.state === 'done' && outcome.by === 'us' ? outcome.gasCost : 0n,
    );
    const left = [0, 1, 2].map((chain) => world.balance(chain)).reduce((a, b) => a + b);
    expect(spent[0] + spent[1]).toBe(3n * STARTED - left);
  });

  it('has finished a transfer only if its command has succeeded', async () => {
    const { world, runner } = await left();
    world.grow(2);
    const [{ chain, step0 }] = runner.sweep.transfers;
    const answer = await world.ledger.proof(chain, step0!.hash, TARGET, NEVER);
    const { timeS } = await world.ledger.look(TARGET, ACCOUNT, NEVER);
    const maker = { signers: [PAIR.publicKey], timeS, nonce: 'too little gas' };
    const poor = step1Of(runner.sweep, step0!.hash, answer.kind === 'proof' ? answer.proof : '', 5, maker);
    const command = signed(poor, [PAIR]);
    expect(await world.ledger.send(TARGET, command, NEVER)).toEqual({ kind: 'taken' });
    world.grow();
    expect((await world.ledger.result(TARGET, command.hash, NEVER))?.result.status).toBe('failure');
    const search = () => {
      const query = { what: 'step 1', key: step0!.hash, madeS: lifeOf(step0!).madeS } as const;
      return world.ledger.search(TARGET, query, {}, NEVER).then(({ found }) => found);
    };
    expect(await search()).toBeUndefined();
    const theirs = world.node.commands.finishTransfer(chain, step0!.hash);
    expect(await search()).toMatchObject({ depth: 0, result: { reqKey: theirs } });
  });

  it('is believed only when blocks are above it', async () => {
    const world = await World.make();
    const runner = world.runner(await world.begin());
    await runner.round(NEVER);
    world.grow();
    const { chain, step0 } = runner.sweep.transfers[0];
    world.node.commands.finishTransfer(chain, step0!.hash);
    await runner.round(NEVER);
    expect(runner.sweep.transfers[0].outcome).toBeNull();
    expect(world.notes.find((note) => note.startsWith(`${chain}: somebody else`))).toBeDefined();
  });
});

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

it('a step 0 that the node calls bad has failed once it can be in no block any more', async () => {
  const world = await World.make();
  const total = world.total();
  const runner = world.runner(await world.begin());
  await runner.round(NEVER);
  world.node.commands.badlist(runner.sweep.transfers[0].step0!.hash);
  world.grow();
  await runner.round(NEVER);
  expect(runner.sweep.transfers[0].outcome).toBeNull();
  world.node.ledger.clockSkewMs += 45 * 60_000;
  const sweep = await world.finish(runner);
  expect(sweep.transfers.map(({ outcome }) => outcome?.state)).toEqual(['failed', 'done']);
  expect(world.balance(1)).toBe(STARTED);
  expect(world.total()).toBe(total);
});

it('a step 1 that cannot be paid for is not said to have a useless proof', async () => {
  const world = await World.make();
  const poor = changed(world.ledger, {
    tryOut: async () => ({ outcome: { status: 'failure', error: { message: 'account guards do not match' } }, gas: 1 }),
  });
  const runner = world.runner(await world.begin(), { ledger: poor });
  for (let i = 0; i < 4; i++) {
    await runner.round(NEVER);
    world.grow(2);
  }
  expect(world.notes.at(-1)).toBe('2: step 1 would fail, so its proof is fetched again: account guards do not match');
});

it('networks without gas are swept, too', async () => {
  const world = await World.make();
  const free = changed(world.ledger, {
    tryOut: async (...asked) => ({ ...(await world.ledger.tryOut(...asked)), gas: 0 }),
  });
  const { chains } = await planSweep(free, WISHES, NEVER);
  expect(chains.map((it) => it.kind === 'transfer' && it.gasLimit)).toEqual([1, 1]);
});

describe('a step 0', () => {
  it('that is refused has failed only once no block can have it: a node could pass it on', async () => {
    const world = await World.make();
    const total = world.total();
    const ledger = withSend(world.ledger, async (send, chain) =>
      chain === 2 ? { kind: 'refused', reason: 'no gas' } : send(),
    );
    const runner = world.runner(await world.begin(), { ledger });
    const sweep = await world.finish(runner, (round) => {
      if (round === 5) world.node.ledger.clockSkewMs += 29 * 60_000;
      if (round === 8) {
        expect(runner.sweep.transfers[1].outcome).toBeNull();
        world.node.ledger.clockSkewMs += 12 * 60_000;
      }
    });
    expect(world.notes).toContain('2: step 0 is refused, if it is not on its way: no gas');
    expect(sweep.transfers.map(({ outcome }) => outcome?.state)).toEqual(['done', 'failed']);
    expect(sweep.transfers[1].outcome).toMatchObject({ gasCost: 0n });
    expect(world.balance(2)).toBe(STARTED);
    expect(world.total()).toBe(total);
  });

  it('that is in a block of a height that was there before it was made is found', async () => {
    const world = await World.make({ firstBlockAgeMs: 7_200_000 });
    const { ledger } = world.node;
    // A block every 30 seconds, of the last hour.
    const at = (secondsAgo: number, blocks = 1) => {
      for (let i = 0; i < blocks; i++) {
        ledger.clockSkewMs = -(secondsAgo - 30 * i) * 1000;
        world.grow();
      }
    };
    at(3600, 20);
    const runner = world.runner(await world.begin());
    await runner.round(NEVER);
    const { chain, step0 } = runner.sweep.transfers[0];
    const { madeS } = lifeOf(step0!);
    const { chains } = ledger;
    const tip = chains.heightOf(chain);
    // The last two blocks are replaced. By the clock of the miner of the new ones, they are 80 seconds old.
    ledger.clockSkewMs = madeS * 1000 - 80_000 - Date.now();
    ledger.reorganise(chains.blocksOf(chain).canonical(tip - 1n)!);
    expect(chains.tip(chain).payload.state.heightOf(step0!.hash)).toBe(tip - 1n);
    at(1000, 3);
    const query = { what: 'command', key: step0!.hash, madeS } as const;
    const { found } = await world.ledger.search(chain, query, { untilS: madeS + 1800 }, NEVER);
    expect(found).toMatchObject({ height: Number(tip - 1n), depth: 4, result: { reqKey: step0!.hash } });
  });

  it('that fails in a block has failed once blocks are above it', async () => {
    const world = await World.make();
    const total = world.total();
    const begun = await world.begin();
    // The coins are spent otherwise in the meantime: the amount is more than there is.
    const [first, second] = begun.transfers;
    const greedy = { ...begun, transfers: [{ ...first, amount: first.amount + STARTED }, second] };
    const runner = world.runner(greedy);
    await runner.round(NEVER);
    world.grow();
    await runner.round(NEVER);
    expect(runner.sweep.transfers[0].outcome).toBeNull();
    expect(world.notes.at(-2)).toMatch(/^1: step 0 has failed; waits for \d more blocks: Insufficient funds$/);
    const sweep = await world.finish(runner);
    // What was paid for its gas is gone.
    const gasCost = STARTED - world.balance(1);
    expect(gasCost).toBeGreaterThan(0n);
    expect(sweep.transfers[0].outcome).toEqual({
      state: 'failed',
      reason: 'Insufficient funds',
      gasCost,
      provenBy: 'node',
    });
    expect(sweep.transfers[1].outcome?.state).toBe('done');
    expect(world.total()).toBe(total);
  });

  it('that no block has is given up only long after its end', async () => {
    const world = await World.make();
    const total = world.total();
    const begun = await world.begin();
    const hidden = withSend(world.ledger, async () => ({ kind: 'taken' }));
    const runner = world.runner(begun, { ledger: hidden });
    await runner.round(NEVER);
    for (const minutes of [29, 5, 4]) {
      world.node.ledger.clockSkewMs += minutes * 60_000;
      world.grow();
      await runner.round(NEVER);
      expect(runner.sweep.transfers.map(({ outcome }) => outcome)).toEqual([null, null]);
    }
    world.node.ledger.clockSkewMs += 5 * 60_000;
    world.grow();
    expect(await runner.round(NEVER)).toBe(false);
    expect(runner.sweep.transfers.map(({ outcome }) => outcome?.state)).toEqual(['failed', 'failed']);
    expect(world.total()).toBe(total);
    expect([1, 2].map((chain) => world.balance(chain))).toEqual([STARTED, STARTED]);
  });

  it('that a killed run had made is sent as it was, and no other', async () => {
    const world = await World.make();
    const sent = new Map<number, Set<string>>();
    const counting = withSend(world.ledger, async (send, chain, { cmd }) => {
      sent.set(chain, (sent.get(chain) ?? new Set()).add(cmd));
      throw new SweepFault(`the node is away: ${typeof send}`);
    });
    const begun = await world.begin();
    for (let i = 0; i < 5; i++) {
      await world.runner(world.store.load() ?? begun, { ledger: counting }).round(NEVER);
      world.grow();
    }
    expect([...sent].map(([chain, cmds]) => [chain, cmds.size])).toEqual([
      [1, 1],
      [2, 1],
    ]);
  });
});

describe('a higher gas price', () => {
  const HIGH = parseDecimal('0.00000002');
  const priceOf = (cmd: string) => publicMetaOf(parsePayload(cmd).meta).gasPrice;

  it('is that of each step 1 that is still to come, at once, and of no step 0 that was made', async () => {
    const world = await World.make();
    const prices: [chain: number, price: bigint][] = [];
    let least = 0n;
    const picky = withSend(world.ledger, async (send, chain, { cmd }) => {
      if (priceOf(cmd) < least) return { kind: 'refused', reason: 'the gas price is too low' };
      prices.push([chain, priceOf(cmd)]);
      return await send();
    });
    const before = world.runner(await world.begin(), { ledger: picky });
    await before.round(NEVER);
    least = HIGH;
    while (!world.notes.at(-1)!.includes('step 1 is refused')) {
      world.grow();
      await before.round(NEVER);
    }
    const after = world.runner({ ...world.store.load()!, gasPrice: HIGH }, { ledger: picky });
    const { transfers } = await world.finish(after);
    expect(new Set(prices.filter(([chain]) => chain !== TARGET).map(([, price]) => price))).toEqual(
      new Set([WISHES.gasPrice]),
    );
    expect(new Set(prices.filter(([chain]) => chain === TARGET).map(([, price]) => price))).toEqual(new Set([HIGH]));
    // Step 0 has paid its own price, and step 1 the higher one.
    const spent = transfers.map(({ outcome }) => (outcome?.state === 'done' ? outcome.gasCost : 0n));
    const moved = transfers.reduce((sum, { amount }) => sum + amount, 0n);
    const left = STARTED * 3n - [0, 1, 2].map((chain) => world.balance(chain)).reduce((a, b) => a + b);
    expect(moved).toBeGreaterThan(0n);
    expect(left).toBe(spent.reduce((a, b) => a + b));
  });
});

describe('an earlier step 1, in whose place one with a higher gas price was made', () => {
  it.each(['alone', 'before the newer one'])('that a block has %s is ours, and its gas is counted', async (how) => {
    const world = await World.make();
    const total = world.total();
    const made = new Map<number, Command[]>();
    let isHolding = true;
    const holding = withSend(world.ledger, async (send, chain, command) => {
      if (chain !== TARGET || !isHolding) return await send();
      const { payload } = parsePayload(command.cmd);
      const pactId = 'cont' in payload ? payload.cont.pactId : '';
      const from = world.store.load()!.transfers.find(({ step0 }) => step0!.hash === pactId)!.chain;
      const known = made.get(from) ?? [];
      if (!known.some(({ hash }) => hash === command.hash)) made.set(from, [...known, command]);
      return { kind: 'taken' };
    });
    const goOn = async (gasPrice: bigint, each: number) => {
      const sweep = world.store.load() ?? (await world.begin());
      const runner = world.runner({ ...sweep, gasPrice }, { ledger: holding });
      while (made.size < 2 || [...made.values()].some(({ length }) => length < each)) {
        await runner.round(NEVER);
        world.grow();
      }
    };
    await goOn(WISHES.gasPrice, 1);
    await goOn(WISHES.gasPrice * 2n, 2);
    await goOn(WISHES.gasPrice * 3n, 3);
    // A node has kept the second command, and a block contains it after all.
    for (const commands of made.values()) {
      for (const command of how === 'alone' ? [commands[1]] : commands.slice(1)) {
        expect(await world.ledger.send(TARGET, command, NEVER)).toEqual({ kind: 'taken' });
      }
    }
    isHolding = false;
    world.grow();
    const { transfers, ...rest } = await world.finish(world.runner(world.store.load()!, { ledger: holding }));
    expectAllDone(world, { ...rest, transfers }, total);
    expect(transfers.map(({ outcome }) => outcome?.state === 'done' && outcome.by)).toEqual(['us', 'us']);
    const spent = transfers.reduce((sum, { outcome }) => sum + (outcome?.gasCost ?? 0n), 0n);
    const left = [0, 1, 2].map((chain) => world.balance(chain)).reduce((a, b) => a + b);
    expect(spent).toBe(STARTED * 3n - left);
  });
});

it('a run ends when its time is over, also while the node does not answer', async () => {
  const world = await World.make();
  const silent = changed(world.ledger, {
    look: (_chain, _account, stop) =>
      new Promise((_, reject) => stop.addEventListener('abort', () => reject(new SweepFault('was stopped')))),
  });
  const runner = world.runner(await world.begin(), { ledger: silent });
  await runner.run(1, 20, NEVER);
  expect(runner.sweep.transfers.map(({ outcome }) => outcome)).toEqual([null, null]);
});

describe('the disk', () => {
  it('that is full lets nothing be sent', async () => {
    const world = await World.make();
    const sent: number[] = [];
    const ledger = withSend(world.ledger, async (send, chain) => {
      sent.push(chain);
      return send();
    });
    const save = () => {
      throw new Error('ENOSPC');
    };
    await expect(world.runner(await world.begin(), { ledger, save }).round(NEVER)).rejects.toThrow('ENOSPC');
    expect(sent).toEqual([]);
  });

  it('and notes never hold a secret', async () => {
    const world = await World.make();
    await world.finish(world.runner(await world.begin()));
    expect(world.files()).toContain(ACCOUNT);
    expect(world.files() + world.notes.join('\n')).not.toContain(SECRET.slice(0, 16));
  });
});

describe('a step 1', () => {
  it('whose time is over before a block has taken it is made again', async () => {
    const world = await World.make();
    const total = world.total();
    const lost = new Set<string>();
    let isLosing = true;
    const ledger = withSend(world.ledger, async (send, chain, { hash }) => {
      if (chain !== TARGET || !isLosing) return send();
      lost.add(hash);
      return { kind: 'taken' };
    });
    const runner = world.runner(await world.begin(), { ledger });
    for (let i = 0; lost.size < 2 || i < 6; i++) {
      expect(i).toBeLessThan(20);
      await runner.round(NEVER);
      world.grow();
    }
    expect(lost.size).toBe(2); // While its time is not over, the same one is sent again and again.
    isLosing = false;
    world.node.ledger.clockSkewMs += 31 * 60_000;
    world.grow();
    const sweep = await world.finish(runner);
    expectAllDone(world, sweep, total);
    for (const { step1 } of sweep.transfers) expect(lost).not.toContain(step1!.hash);
  });

  it('that fails again and again is made three times in one run', async () => {
    const world = await World.make();
    const sent = new Set<string>();
    const swallowing = withSend(world.ledger, async (send, chain, { hash }) => {
      if (chain !== TARGET) return send();
      sent.add(hash);
      return { kind: 'taken' };
    });
    const failure = { status: 'failure', error: { message: 'out of luck' } } as const;
    const nothing = { gas: 1, txId: null, logs: null, events: [], continuation: null };
    const failing = changed(swallowing, {
      result: async (chain, reqKey, stop) => {
        if (chain !== TARGET) return await world.ledger.result(chain, reqKey, stop);
        return {
          reqKey,
          result: failure,
          metaData: { blockHeight: Number(world.node.ledger.chains.heightOf(chain)) },
          ...nothing,
        };
      },
    });
    const runner = world.runner(await world.begin(), { ledger: failing });
    for (let i = 0; i < 12; i++) {
      await runner.round(NEVER);
      world.grow();
    }
    expect(sent.size).toBe(2 * 3);
    expect(world.notes.slice(-2)).toEqual(
      [1, 2].map((chain) => `${chain}: 3 commands for step 1 have failed, so no other is made in this run`),
    );
  });
});

describe('a wrong proof', () => {
  it.each([
    ['of another command', 'the proof is wrong'],
    ['for another chain', 'the proof is wrong'],
  ])('%s is not used', async (which, says) => {
    const world = await World.make();
    const ledger = changed(world.ledger, {
      proof: (chain, requestKey, target, stop) => {
        const { step0 } = runner.sweep.transfers.find((it) => it.chain !== chain)!;
        if (which === 'for another chain') return world.ledger.proof(chain, requestKey, 3 - chain, stop);
        return world.ledger.proof(3 - chain, step0!.hash, target, stop);
      },
    });
    const runner = world.runner(await world.begin(), { ledger });
    for (let i = 0; i < 4; i++) {
      await runner.round(NEVER);
      world.grow(2);
    }
    expect(world.notes.at(-1)).toContain(says);
    expect(runner.sweep.transfers.map(({ step1 }) => step1)).toEqual([null, null]);
  });

  it('of a step 0 that has failed is not used', async () => {
    const { world, runner } = await left();
    world.grow(2);
    const { chain, step0 } = runner.sweep.transfers[0];
    const answer = await world.ledger.proof(chain, step0!.hash, TARGET, NEVER);
    const proof = JSON.parse(Buffer.from(answer.kind === 'proof' ? answer.proof : '', 'base64url').toString());
    const input = Buffer.from(proof.subject.input, 'base64url');
    const output = JSON.parse(input.subarray(2).toString());
    const withResult = (result: object) => {
      const bytes = Buffer.concat([input.subarray(0, 2), Buffer.from(JSON.stringify({ ...output, result }))]);
      const changed = { ...proof, subject: { input: bytes.toString('base64url') } };
      return Buffer.from(JSON.stringify(changed)).toString('base64url');
    };
    expect(rootOfProof(withResult(output.result), step0!.hash, TARGET)).toHaveLength(32);
    const failed = withResult({ status: 'failure', error: { message: 'no' } });
    expect(() => rootOfProof(failed, step0!.hash, TARGET)).toThrow('the proof is of another command than step 0');
  });

  it('leads to a block that the target chain does not have', async () => {
    const world = await World.make();
    const ledger = changed(world.ledger, { hasBlock: async () => false });
    const runner = world.runner(await world.begin(), { ledger });
    for (let i = 0; i < 4; i++) {
      await runner.round(NEVER);
      world.grow(CONFIRMATIONS);
    }
    expect(world.notes.at(-1)).toContain('leads to no block');
    expect(runner.sweep.transfers.map(({ step1 }) => step1)).toEqual([null, null]);
  });
});

it('amounts are planned to the last digit', async () => {
  const world = await World.make();
  const { transfers } = await world.begin();
  // 414 units of gas, a fifth more, and what is kept.
  expect(transfers.map(({ amount, gasLimit }) => [formatDecimal(amount), gasLimit])).toEqual([
    ['91.49899503', 497],
    ['91.49899503', 497],
  ]);
});

async function retried<T>(act: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await act();
    } catch (error) {
      if (!(error instanceof SweepFault)) throw error;
    }
  }
}
