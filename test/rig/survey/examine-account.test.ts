import { describe, expect, it } from 'vitest';
import type { Keyset } from '#pickaxe/protocol/ledger/command/coin.js';
import { LedgerFormatError } from '#pickaxe/protocol/ledger/json.js';
import { accountFindings } from '#pickaxe/rig/survey/examine-account.js';

describe('the miner’s account', () => {
  const key = 'a1'.repeat(32);
  const account = `k:${key}`;
  const miner = { keys: [key], pred: 'keys-all' };
  const details = (chain: number, guard: Keyset | string) => {
    const keyset = typeof guard === 'string' ? {} : { keyset: guard };
    const json = typeof guard === 'string' ? guard : { keys: guard.keys, pred: guard.pred };
    return { chain, value: { account, balance: 0n, guard: json, ...keyset } };
  };
  const none = (chain: number) => ({ chain, value: undefined });
  const about = (...readings: Parameters<typeof accountFindings>[2]) => accountFindings(account, miner, readings);

  it('is fine with the configured keys, and where it does not exist', () => {
    expect(about(none(0), none(1))).toMatchObject([
      { state: 'ok', what: expect.stringContaining('does not exist yet') },
    ]);
    const some = about(details(0, { keys: [key, key], pred: 'keys-all' }), none(1));
    expect(some).toMatchObject([{ state: 'ok', what: expect.stringContaining('on 1 of 2 chains') }]);
    expect(about(details(0, miner))).toMatchObject([{ state: 'ok', what: expect.stringContaining('on all chains') }]);
  });

  it.each([
    ['keys', { keys: ['cd'.repeat(32)], pred: 'keys-all' }],
    ['a key more', { keys: [key, 'cd'.repeat(32)], pred: 'keys-all' }],
    ['another predicate', { keys: [key], pred: 'keys-any' }],
    ['a guard that is no keyset', 'coin.somebody'],
  ])('is a warning with other %s on a chain, and a fault on all', (_, guard) => {
    const some = about(none(0), details(1, guard), details(2, miner));
    expect(some).toMatchObject([{ state: 'warning', what: expect.stringMatching(/on chain 1: /) }]);
    expect(some).toMatchObject([{ why: expect.any(String), remedy: expect.any(String) }]);
    expect(about(details(0, guard), details(1, guard))).toMatchObject([
      { state: 'fault', what: expect.stringMatching(/on chains 0, 1: /) },
    ]);
  });

  it('is not said to be fine where it was not read', () => {
    const error = new LedgerFormatError('no such module');
    expect(about({ chain: 0, error }, none(1), { chain: 2, error })).toMatchObject([
      { state: 'skipped', what: `${account} was not checked on chains 0, 2: no such module` },
    ]);
  });
});
