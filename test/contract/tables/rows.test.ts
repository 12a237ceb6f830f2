/** The values that rows can have, the sizes of rows, and the log of writes. */

import { describe, expect, it } from 'vitest';
import { Database } from '#pickaxe/contract/runtime/database.js';
import { MAX_DEPTH, MAX_PARTS } from '#pickaxe/contract/values/values.js';
import { Transaction, type TransactionOptions } from '../transaction.ts';
import { anything, BANK } from './modules.ts';

describe('rows', () => {
  it.each([
    ['(put "b" { "balance": 1.0 })', 'Missing fields for {account}: [owner:string]'],
    ['(put "b" { })', 'Missing fields for {account}: [balance:decimal, owner:string]'],
    ['(put "b" { "balance": 1.0, "owner": "b", "x": 1 })', 'Invalid field for {account}: "x"'],
    ['(put "b" { "balance": 1, "owner": "b" })', 'Type error: expected decimal, found integer'],
    ['(change "a" { "x": 1.0 })', 'Invalid field for {account}: "x"'],
    ['(change "a" { "owner": 1 })', 'Type error: expected string, found integer'],
  ])('%s fails in dialect 4', (code, message) => {
    const transaction = new Transaction();
    transaction.run(`${BANK} (open "a")`);
    expect(transaction.faultOf(code)).toMatchObject({ message, kind: 'eval' });
  });

  it.each([
    ['(put "b" { "balance": 1.0 })', '{"balance": 1.0}'],
    ['(put "b" { "balance": 1.0, "owner": "b", "x": 1 })', '{"balance": 1.0,"owner": "b","x": 1}'],
    ['(change "a" { "owner": 1 })', '{"owner": 1}'],
  ])('%s fails in dialect 5', (code, row) => {
    const transaction = new Transaction({ dialect: 5 });
    transaction.run(`${BANK} (open "a")`);
    const expected = '{"balance": decimal,"owner": string}';
    const message = `Attempted insert failed due to schema mismatch. Expected: ${expected}, received ${row}`;
    expect(transaction.faultOf(code)).toMatchObject({ message, kind: 'eval' });
  });

  it('may lack columns in an update, and keep the others', () => {
    const transaction = new Transaction();
    transaction.run(`${BANK} (open "a") (change "a" { "balance": 2.5 })`);
    expect(transaction.run('(get "a")')).toBe('{"balance": 2.5,"owner": "a"}');
  });

  it('without a schema are what was written over what there was, in dialect 4', () => {
    const code = '(write t "k" { "b": 1, "c": 1 }) (write t "k" { "c": 2, "a": 2 }) (read t "k")';
    expect(anything().run(code)).toBe('{"a": 2,"b": 1,"c": 2}');
  });

  it.each([
    ['(write m.t "k" { "v": (lambda (x) x) })', 'Only value-level terms permitted: Unable to convert Term: '],
    ['(write m.t "k" { "v": [m.t] })', 'Only value-level terms permitted: Unable to convert Term: m.t'],
  ])('%s fails', (code, message) => {
    expect(anything().faultOf(code).message).toContain(message);
  });

  it.each([
    ['2.50', '2.5'],
    ['[1.00 { "b": 2.000, "a": 1 }]', '[1.0 {"a": 1,"b": 2.0}]'],
    // More digits than a JSON number keeps exactly.
    ['12345678901234567890.50', '12345678901234567890.50'],
    ['(format-time "%v" (m.get "time"))', '"000000"'],
    ['(create-user-guard (m.get 1.50))', 'UserGuard {fun: m.get,args: [1.5]}'],
    ['{ "keys": ["a"], "pred": "keys-all" }', '{"keys": ["a"],"pred": "keys-all"}'],
  ])('%s is read as %s in dialect 4', (value, text) => {
    const transaction = anything();
    const time = '(parse-time "%Y-%m-%dT%H:%M:%S.%v" "2020-01-01T00:00:00.250000")';
    transaction.run(`(write t "time" { "v": ${time} })`);
    transaction.run(`(write t "k" { "v": ${value} })`);
    expect(transaction.run('(get "k")')).toBe(text);
  });

  it('keep zeros at the end of decimals in dialect 5', () => {
    const transaction = new Transaction({ dialect: 5 });
    transaction.run('(module m G (defcap G () true) (defschema s v:decimal) (deftable t:{s})) (create-table t)');
    expect(transaction.run('(write t "k" { "v": 2.50 }) (read t "k")')).toBe('{"v": 2.50}');
  });

  it('with DisablePact42 do not tell an object from a keyset', () => {
    const transaction = anything({ flags: ['DisablePact42'] });
    transaction.run('(write t "k" { "v": { "keys": ["a"], "pred": "keys-all" } })');
    expect(transaction.run('(get "k")')).toBe('KeySet {keys: [a],pred: keys-all}');
  });
});

describe('what takes long', () => {
  const MANY = 200;

  it.each(['(keys t)', '(select t (constantly true))', '(fold-db t (constantly true) (constantly 1))'])(
    '%s takes steps for each row',
    (code) => {
      const transaction = anything({ maxSteps: 5_000 });
      for (let i = 0; i < MANY; i++) transaction.run(`(write t "${i}" { "v": 1 })`);
      expect(() => transaction.run(code)).not.toThrow();
      for (let i = MANY; i < 10 * MANY; i++) transaction.run(`(write t "${i}" { "v": 1 })`);
      expect(transaction.faultOf(code).message).toBe('Code takes more than 5000 steps');
    },
  );

  it('a row takes steps for each of its parts, and has no more than a value may have', () => {
    const write = (length: number) => `(write t "k" { "v": (make-list ${length} 1) })`;
    expect(() => anything({ maxSteps: 50_000 }).run(write(20_000))).not.toThrow();
    expect(anything({ maxSteps: 50_000 }).faultOf(write(40_000)).message).toBe('Code takes more than 50000 steps');
    const doubled = '(fold (lambda (l x) [l l]) 1 (enumerate 1 30))';
    expect(anything().faultOf(`(write t "k" { "v": ${doubled} })`).message).toBe(
      `A value has more than ${MAX_PARTS} parts`,
    );
    const deep = `(fold (lambda (l x) [l]) 1 (enumerate 0 ${MAX_DEPTH}))`;
    expect(anything().faultOf(`(write t "k" { "v": ${deep} })`).message).toBe(
      `A value is nested more than ${MAX_DEPTH} deep`,
    );
  });

  it('a change of a row takes steps for each of its columns', () => {
    const columns = Array.from({ length: 1000 }, (_, i) => `"c${i}": 1`).join(', ');
    const transaction = anything({ maxSteps: 50_000 });
    transaction.run(`(write t "k" { ${columns} })`);
    const change = (count: number) => `(length (map (lambda (i) (update t "k" { "c1": i })) (enumerate 1 ${count})))`;
    expect(transaction.run(change(10))).toBe('10');
    expect(transaction.faultOf(change(20)).message).toBe('Code takes more than 50000 steps');
  });

  it('a value whose type is checked takes steps for each of its parts', () => {
    const code =
      '(let ((l (make-list 1000 1)) (f (lambda (x:[integer]) 1))) (map (lambda (i) (f l)) (enumerate 1 100)))';
    expect(new Transaction({ maxSteps: 50_000 }).faultOf(code).message).toBe('Code takes more than 50000 steps');
    expect(new Transaction({ maxSteps: 200_000 }).run(`(length ${code})`)).toBe('100');
  });

  it('a schema that is compared takes steps for each of its fields', () => {
    const transaction = new Transaction({ maxSteps: 50_000 });
    const fields = Array.from({ length: 1000 }, (_, i) => `f${i}:integer`).join(' ');
    transaction.run(`(module m G (defcap G () true) (defschema s ${fields}) (defschema r ${fields}) (deftable t:{s})
      (defun f (x:table{r}) 1))`);
    expect(transaction.run('(f t)')).toBe('1');
    expect(transaction.faultOf('(map (lambda (i) (f t)) (enumerate 1 100))').message).toBe(
      'Code takes more than 50000 steps',
    );
  });
});

describe('the log of writes', () => {
  const LOG = '[{"key": "a","table": "USER_m_t","value": {"v": 1}} {"key": "a","table": "USER_m_t","value": {"v": 2}}]';

  function logged(options?: TransactionOptions): Transaction {
    const transaction = anything(options);
    transaction.commit(3n, '(write m.t "a" { "v": 1 }) (write m.t "a" { "v": 2 })');
    transaction.commit(5n, '(write m.t "b" { "v": 3 })');
    transaction.run('(write m.t "c" { "v": 4 })');
    return transaction;
  }

  it.each([
    ['(txids m.t 0)', '[3 5]'],
    ['(txids m.t 4)', '[5]'],
    ['(txids m.t 6)', '[]'],
    ['(txids m.t -1)', '[]'],
    ['(txlog m.t 3)', LOG],
    ['(txlog m.t 4)', '[]'],
    ['(keylog m.t "a" 0)', '[{"txid": 3,"value": {"v": 1}} {"txid": 3,"value": {"v": 2}}]'],
    ['(keylog m.t "a" 4)', '[]'],
    ['(keylog m.t "c" 0)', '[]'],
  ])('%s is %s', (code, text) => {
    expect(logged().run(code)).toBe(text);
  });

  it.each(['(txids m.t 0)', '(txlog m.t 3)', '(keylog m.t "a" 0)'])('%s can be disabled', (code) => {
    const transaction = logged({ flags: ['DisableHistoryInTransactionalMode'] });
    expect(transaction.faultOf(code).message).toBe('Operation only permitted in local execution mode');
  });

  it.each([
    ['(try [] (txids m.t 0))', 'txids'],
    ['(try [] (txlog m.t 3))', 'getTxLog'],
  ])('%s fails', (code, operation) => {
    expect(logged().faultOf(code).message).toBe(`Illegal database access attempt (${operation})`);
  });

  it('is that of the version of the database', () => {
    const base = new Database();
    base.createTable('t');
    const branches = [1n, 2n].map((number) => {
      const branch = new Database(base);
      const transaction = new Database(branch);
      transaction.writeRow('t', 'k', new Map([['v', number]]));
      branch.absorb(transaction, number);
      return branch;
    });
    expect(branches.map(({ histories }) => histories.get('t')?.transaction)).toEqual([1n, 2n]);
    expect(base.histories.get('t')).toBeUndefined();
    base.absorb(branches[1]);
    expect(base.histories.get('t')).toMatchObject({ transaction: 2n, earlier: undefined });
    expect(base.writeRow('none', 'k', new Map())).toBe(false);
  });
});

it('a table is found many versions below', () => {
  let database = new Database();
  database.createTable('t');
  database.writeRow('t', 'k', new Map([['v', 1n]]));
  for (let i = 0; i < 20_000; i++) database = new Database(database);
  expect(database.table('t')?.get('k')).toEqual(new Map([['v', 1n]]));
  expect(database.table('none')).toBeUndefined();
});
