import { describe, expect, it } from 'vitest';
import { planSweep } from '#pickaxe/node/sweep/plan.js';
import { needsKeys } from '#pickaxe/node/sweep/runner.js';
import { SweepFault } from '#pickaxe/node/sweep/sweep-ledger.js';
import { lifeOf, signed, step1Of } from '#pickaxe/node/sweep/transfer-commands.js';
import { parsePayload } from '#pickaxe/protocol/ledger/command/command-payload.js';
import { formatDecimal, parseDecimal } from '#pickaxe/protocol/ledger/decimal.js';
import { expectAllDone, STARTED } from './survive.ts';
import {
  ACCOUNT,
  changed,
  Killed,
  Killer,
  left,
  NEVER,
  PAIR,
  SECRET,
  sent,
  TARGET,
  WISHES,
  World,
  withSend,
} from './world.ts';

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
    expect(first.outcome?.state === 'done' && first.outcome.gasCost).toBeGreaterThan(263n * 10_000n);
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

it('networks without gas are swept, too', async () => {
  const world = await World.make();
  const free = changed(world.ledger, {
    tryOut: async (...asked) => ({ ...(await world.ledger.tryOut(...asked)), gas: 0 }),
  });
  const { chains } = await planSweep(free, WISHES, NEVER);
  expect(chains.map((it) => it.kind === 'transfer' && it.gasLimit)).toEqual([1, 1]);
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

it('amounts are planned to the last digit', async () => {
  const world = await World.make();
  const { transfers } = await world.begin();
  // 219 units of gas, a fifth more, and what is kept.
  expect(transfers.map(({ amount, gasLimit }) => [formatDecimal(amount), gasLimit])).toEqual([
    ['91.49899737', 263],
    ['91.49899737', 263],
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
