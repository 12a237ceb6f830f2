/** What is said of a payment whose trial fails: that there are too few coins, or what the node has said. */

import { expect, it } from 'vitest';
import { planPayment } from '#pickaxe/node/sweep/next-step.js';
import { parseDecimal } from '#pickaxe/protocol/ledger/decimal.js';
import { PAYMENT } from './payments.ts';
import { STARTED } from './survive.ts';
import { changed, NEVER, World } from './world.ts';

it.each([
  ['too little gas, for all that is left', 2_499n, 'Gas limit (2499) exceeded', /too little for .* the gas/],
  [
    'too little gas, though there are more coins',
    2_500n,
    'Gas limit (2500) exceeded',
    /The transfer would fail: Gas limit/,
  ],
  ['another fault, with all that is left', 2_499n, 'no such guard', /The transfer would fail: no such guard/],
  ['another fault, in whose words gas is a part', 2_499n, 'Vegas', /The transfer would fail: Vegas/],
])('%s', async (_, units, message, says) => {
  const world = await World.make();
  const ledger = changed(world.ledger, {
    tryOut: async () => ({ outcome: { status: 'failure', error: { message } }, gas: 1 }),
  });
  const request = { ...PAYMENT, amount: STARTED - units * PAYMENT.gasPrice };
  expect(request.amount).toBeGreaterThan(parseDecimal('0.1'));
  await expect(planPayment(ledger, request, NEVER)).rejects.toThrow(says);
});
