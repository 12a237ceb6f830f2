/** A payment of half a coin within chain 1, which tests make or change. */

import { type PaymentRequest, paymentOf, planPayment } from '#pickaxe/node/sweep/next-step.js';
import type { Sweep } from '#pickaxe/node/sweep/sweep-state.js';
import { KeyPair } from '#pickaxe/protocol/ledger/command/command.js';
import { parseDecimal } from '#pickaxe/protocol/ledger/decimal.js';
import { ACCOUNT, NEVER, PAIR, type World } from './world.ts';

export const RECEIVER_KEY = new KeyPair('77'.repeat(32)).publicKey;
export const RECEIVER = `k:${RECEIVER_KEY}`;
export const AMOUNT = parseDecimal('0.5');

export const PAYMENT: PaymentRequest = {
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

/** @returns a payment that has been planned and stored, and of which nothing is sent yet */
export async function begun(world: World, request: Partial<PaymentRequest> = {}): Promise<Sweep> {
  const plan = await planPayment(world.ledger, { ...PAYMENT, ...request }, NEVER);
  const payment = paymentOf(plan, world.network, 1);
  world.store.begin(payment);
  return payment;
}
