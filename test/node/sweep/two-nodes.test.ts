/** Two nodes that report an account: who guards it, or that it does not exist. */

import { describe, expect, it } from 'vitest';
import { CannotSweep, compareElsewhere } from '#pickaxe/node/sweep/plan.js';
import type { AccountLook, SweepLedger } from '#pickaxe/node/sweep/sweep-ledger.js';
import type { Keyset } from '#pickaxe/protocol/ledger/command/coin.js';
import { NEVER } from './world.ts';

const A = 'a'.repeat(64);
const B = 'b'.repeat(64);
const REPORTS = {
  'one key': { keys: [A], pred: 'keys-all' },
  'another key': { keys: [B], pred: 'keys-all' },
  'the key, with another predicate': { keys: [A], pred: 'keys-any' },
  'two keys': { keys: [A, B], pred: 'keys-all' },
  'no keyset': undefined,
} as const satisfies Record<string, Keyset | undefined>;
type Report = keyof typeof REPORTS;
const names = Object.keys(REPORTS) as Report[];

/** @param elsewhere what the other node reports; undefined if no other node answers */
function ledgerWith(elsewhere: Partial<AccountLook> | undefined): SweepLedger {
  const look = elsewhere && { details: undefined, height: 1, timeS: 1, ...elsewhere };
  return { lookElsewhere: async () => look } as Partial<SweepLedger> as SweepLedger;
}
const compare = (one: Report, elsewhere: Partial<AccountLook> | undefined) => {
  const reported = { chain: 3, account: 'me', keyset: REPORTS[one] };
  return compareElsewhere(ledgerWith(elsewhere), reported, NEVER);
};

describe.each(names)('when one node reports %s,', (one) => {
  it.each(names)('and the other one %s, only the same guard is believed', async (other) => {
    const compared = compare(one, { details: { account: 'me', balance: 1n, keyset: REPORTS[other] } as never });
    if (one === other) return await expect(compared).resolves.toBeUndefined();
    const fault = await compared.then(
      () => expect.fail('nothing was thrown'),
      (error: unknown) => error,
    );
    expect(fault).toBeInstanceOf(CannotSweep);
    const text = (name: Report) => {
      const keyset: Keyset | undefined = REPORTS[name];
      return keyset ? `${keyset.pred} of ${keyset.keys.join(', ')}` : 'that something else than keys guards it';
    };
    expect((fault as Error).message).toContain(`one says ${text(one)}, and the other ${text(other)}. `);
  });

  it('and the other one that the account does not exist, neither is believed', async () => {
    await expect(compare(one, {})).rejects.toThrow(/Two nodes disagree .* and the other that it does not exist\./);
  });

  it('and no other node answers, it is believed', async () => {
    await expect(compare(one, undefined)).resolves.toBeUndefined();
  });
});
