/** Payments whose blocks are taken back, fail, or never come. */

import { expect, it } from 'vitest';
import { parseDecimal } from '#pickaxe/protocol/ledger/decimal.js';
import { AMOUNT, begun, RECEIVER } from './payments.ts';
import { NEVER, World, withSend } from './world.ts';

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
