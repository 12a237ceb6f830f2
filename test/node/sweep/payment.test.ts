/** Payments that are killed at each of their steps, and whose blocks are taken back. */

import { describe, expect, it } from 'vitest';
import { type PaymentRequest, paymentOf, planPayment } from '#pickaxe/node/sweep/next-step.js';
import type { Sweep } from '#pickaxe/node/sweep/sweep-state.js';
import { KeyPair } from '#pickaxe/protocol/ledger/command/command.js';
import { parseDecimal } from '#pickaxe/protocol/ledger/decimal.js';
import { ACCOUNT, Killed, Killer, NEVER, PAIR, World, withSend } from './world.ts';

const RECEIVER = `k:${new KeyPair('77'.repeat(32)).publicKey}`;
const AMOUNT = parseDecimal('0.5');

const WISHES: PaymentRequest = {
  account: ACCOUNT,
  chain: 1,
  targetChain: 1,
  receiver: RECEIVER,
  receiverGuard: null,
  amount: AMOUNT,
  gasPrice: 10_000n,
  gasStation: null,
  held: [PAIR.publicKey],
};

async function begun(world: World, request: Partial<PaymentRequest> = {}): Promise<Sweep> {
  const plan = await planPayment(world.ledger, { ...WISHES, ...request }, NEVER);
  const payment = paymentOf(plan, world.network, 1);
  world.store.begin(payment);
  return payment;
}

describe.each([
  ['within one chain', 1, 4],
  ['to another chain', 2, 7],
] as const)('a payment %s', (_, targetChain, leastSteps) => {
  it.each(['before', 'after'] as const)('that is killed at any step goes on from there: %s the step', async (when) => {
    for (let at = 0; ; at++) {
      const world = await World.make();
      const payment = await begun(world, { targetChain });
      const killer = new Killer(at, when);
      const options = { save: killer.save(world), ledger: killer.ledger(world) };
      await world.finish(world.runner(payment, options)).catch((error) => {
        if (!(error instanceof Killed)) throw error;
      });
      if (!killer.hasKilled) {
        // Writes: each command, the height, the outcome and, to another chain, the proof. Sends: each command.
        expect(at).toBeGreaterThanOrEqual(leastSteps);
        return;
      }
      const { transfers } = await world.finish(world.runner(world.store.load()!));
      expect(transfers[0].outcome).toMatchObject({ state: 'done', by: 'us' });
      expect(world.balance(targetChain, RECEIVER)).toBe(AMOUNT);
      expect([1, 2].map((chain) => world.commands(chain))).toEqual([1, targetChain === 2 ? 1 : 0]);
    }
  });
});

it('a payment whose block is taken back gets into another one, and is paid once', async () => {
  const world = await World.make();
  const runner = world.runner(await begun(world));
  const { chains } = world.node.ledger;
  let takenBack = 0;
  await world.finish(runner, () => {
    const tip = chains.tip(1);
    if (takenBack > 0 || tip.payload.outputs.length === 0) return;
    takenBack += 1;
    world.node.ledger.reorganise(tip);
  });
  expect(takenBack).toBe(1);
  expect([world.balance(1, RECEIVER), world.commands(1)]).toEqual([AMOUNT, 1]);
});

it('a payment that fails in its block has cost its gas, and nothing else', async () => {
  const world = await World.make();
  const payment = await begun(world);
  // The signed amount is more than the account has by then.
  const [transfer] = payment.transfers;
  const { transfers } = await world.finish(
    world.runner({ ...payment, transfers: [{ ...transfer, amount: parseDecimal('91.5') }] }),
  );
  expect(transfers[0].outcome).toMatchObject({
    state: 'failed',
    reason: expect.stringContaining('Insufficient funds'),
  });
  expect(world.balance(1, RECEIVER)).toBe(0n);
  expect(world.balance(1)).toBe(parseDecimal('91.5') - (transfers[0].outcome?.gasCost ?? 0n));
});

it('a payment that no block has when its time is over has failed, and is not made again', async () => {
  const world = await World.make();
  const ledger = withSend(world.ledger, async () => ({ kind: 'taken' }));
  const runner = world.runner(await begun(world), { ledger });
  await runner.round(NEVER);
  // Half an hour, and the ten minutes in which a block may be taken back.
  world.node.ledger.clockSkewMs += 2_500_000;
  const { transfers } = await world.finish(runner);
  expect(transfers[0].outcome).toMatchObject({ state: 'failed', reason: expect.stringContaining('no block has it') });
  expect([world.commands(1), world.balance(1)]).toEqual([0, parseDecimal('91.5')]);
});
