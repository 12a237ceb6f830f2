import { describe, expect, it } from 'vitest';
import { Decimal } from '#pickaxe/contract/values/decimal.js';
import { KeysetGuard, type Storable } from '#pickaxe/contract/values/values.js';
import { ACCOUNTS, ChainState } from '#pickaxe/mock-node/execution/chain-state.js';
import { parseDecimal } from '#pickaxe/protocol/ledger/decimal.js';

const guard = new KeysetGuard(['a'.repeat(64)]);
const balance = new Decimal(125n, 2);

function withRow(row: Record<string, Storable>, table = ACCOUNTS): ChainState {
  const state = new ChainState();
  state.database.createTable(table);
  state.database.writeRow(table, 'alice', new Map(Object.entries(row)));
  return state;
}

describe('an account', () => {
  it('has the balance and the guard of its row', () => {
    const account = withRow({ balance, guard }).account('alice');
    expect(account?.balance).toBe(parseDecimal('1.25'));
    expect(account?.guard).toBe(guard);
  });

  // Somebody's contract may have written the table.
  it.each<[string, Record<string, Storable>]>([
    ['an empty row', {}],
    ['a row without a balance', { guard }],
    ['a row whose balance is an integer', { balance: 1n, guard }],
    ['a row whose balance is a text', { balance: '1.25', guard }],
    ['a row without a guard', { balance }],
    ['a row whose guard is a text', { balance, guard: 'alice' }],
  ])('is none in %s', (_, row) => {
    expect(withRow(row).account('alice')).toBeUndefined();
  });

  it('is none without a row, a table or the right table', () => {
    expect(withRow({ balance, guard }).account('bob')).toBeUndefined();
    expect(new ChainState().account('alice')).toBeUndefined();
    expect(withRow({ balance, guard }, 'other_coin-table').account('alice')).toBeUndefined();
  });
});

it('the next state changes the one below it only when that absorbs it', () => {
  const state = withRow({ balance, guard });
  state.setHeight('first', 1n);
  const [next, other] = [state.next(), state.next()];
  next.setHeight('second', 2n);
  next.database.writeRow(ACCOUNTS, 'bob', new Map<string, Storable>(Object.entries({ balance, guard })));
  expect([next, other, state].map((each) => each.heightOf('second'))).toEqual([2n, undefined, undefined]);
  expect([next, other, state].map((each) => each.account('bob') !== undefined)).toEqual([true, false, false]);
  expect([next, other].map((each) => [each.heightOf('first'), each.account('alice')?.guard])).toEqual([
    [1n, guard],
    [1n, guard],
  ]);
  state.absorb(next);
  expect([state.heightOf('first'), state.heightOf('second')]).toEqual([1n, 2n]);
  expect(state.account('bob')?.balance).toBe(parseDecimal('1.25'));
});
