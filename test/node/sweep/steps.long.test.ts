/** The steps of a transfer that fail, come late, are made again or are proven wrongly. */

import { describe, expect, it } from 'vitest';
import { SweepFault } from '#pickaxe/node/sweep/sweep-ledger.js';
import { lifeOf, rootOfProof } from '#pickaxe/node/sweep/transfer-commands.js';
import type { Command } from '#pickaxe/protocol/ledger/command/command.js';
import { parsePayload, publicMetaOf } from '#pickaxe/protocol/ledger/command/command-payload.js';
import { parseDecimal } from '#pickaxe/protocol/ledger/decimal.js';
import { expectAllDone, STARTED } from './survive.ts';
import { CONFIRMATIONS, changed, left, NEVER, TARGET, WISHES, World, withSend } from './world.ts';

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
  // A proof that was good at first may be useless after a reorganisation, so none is kept.
  expect(runner.sweep.transfers.map(({ proof }) => proof)).toEqual([null, null]);
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
    const counting = withSend(world.ledger, async (_send, chain, { cmd }) => {
      sent.set(chain, (sent.get(chain) ?? new Set()).add(cmd));
      throw new SweepFault('the node is away');
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
    world.grow();
    await world.roundsUntil(before, () => world.notes.at(-1)!.includes('step 1 is refused'));
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
      await world.roundsUntil(
        runner,
        () => made.size === 2 && [...made.values()].every(({ length }) => length >= each),
      );
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
    await world.roundsUntil(runner, () => lost.size === 2);
    for (let i = 0; i < 3; i++) {
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
