/** Who pays for the arrival of a payment, and that a payment within one chain has no arrival. */

import { describe, expect, it } from 'vitest';
import { type PaymentRequest, planPayment } from '#pickaxe/node/sweep/next-step.js';
import type { SweepLedger } from '#pickaxe/node/sweep/sweep-ledger.js';
import { parseDecimal } from '#pickaxe/protocol/ledger/decimal.js';
import { PAYMENT, RECEIVER, RECEIVER_KEY } from './payments.ts';
import { ACCOUNT, NEVER, PAIR } from './world.ts';

/** With it, the gas that an arrival may need costs more than the account has. */
const DEAR = parseDecimal('0.05');
const STATION = 'station';

/** By account and chain: who has coins there, and the key that guards them. */
const ACCOUNTS: Record<string, string> = {
  [`${ACCOUNT} on 1`]: PAIR.publicKey,
  [`${ACCOUNT} on 2`]: PAIR.publicKey,
  [`${ACCOUNT} on 3`]: RECEIVER_KEY,
  ...Object.fromEntries([2, 3, 4].map((chain) => [`${STATION} on ${chain}`, RECEIVER_KEY])),
};

/** Plans a payment from chain 1. @returns the accounts that a node was asked about */
async function plan(request: Partial<PaymentRequest>): Promise<readonly string[]> {
  const asked: string[] = [];
  const ledger: Partial<SweepLedger> = {
    network: 'development',
    chains: async () => [0, 1, 2, 3, 4],
    look: async (chain, account) => {
      const place = `${account} on ${chain}`;
      asked.push(place);
      const key = ACCOUNTS[place];
      const keyset = { keys: [key], pred: 'keys-all' };
      const details = key === undefined ? undefined : { account, balance: parseDecimal('91.5'), guard: {}, keyset };
      return { details, height: 1, timeS: 1 };
    },
    tryOut: async () => ({ outcome: { status: 'success', data: true }, gas: 500 }),
  };
  await planPayment(ledger as SweepLedger, { ...PAYMENT, ...request }, NEVER);
  return asked;
}

describe('a payment', () => {
  it.each([
    ['within a chain', {}],
    ['within a chain, of an account that could not pay for an arrival', { gasPrice: DEAR }],
    ['within a chain, with a gas station that is not there', { gasStation: 'nobody' }],
  ])('%s concerns two accounts on that chain, and no arrival', async (_, request) => {
    expect(await plan(request)).toEqual([`${ACCOUNT} on 1`, `${RECEIVER} on 1`]);
  });

  it.each([
    ['by the account itself', { targetChain: 2 }, `${ACCOUNT} on 2`],
    ['by a gas station', { targetChain: 2, gasStation: STATION }, `${STATION} on 2`],
    [
      'by a gas station, for an account with other keys there',
      { targetChain: 3, gasStation: STATION },
      `${STATION} on 3`,
    ],
    ['by a gas station, for an account that is not there', { targetChain: 4, gasStation: STATION }, `${STATION} on 4`],
  ])('to another chain is planned if its arrival is paid for %s', async (_, request, payer) => {
    expect(await plan(request)).toContain(payer);
  });

  it.each([
    [
      'has too little there',
      { targetChain: 2, gasPrice: DEAR },
      /cannot pay .*: it has 91\.5 on chain 2, and 125\.0 is/,
    ],
    ['is not there', { targetChain: 4 }, /The account cannot pay for the arrival: it has 0\.0 on chain 4, and /],
    ['has other keys there', { targetChain: 3 }, /On chain 3, the account has other keys than on its own/],
    [
      'is no gas station',
      { targetChain: 2, gasStation: 'nobody' },
      /The gas station nobody cannot pay for the arrival/,
    ],
  ])('to another chain is not planned if who pays for its arrival %s', async (_, request, message) => {
    await expect(plan(request)).rejects.toThrow(message);
  });
});
