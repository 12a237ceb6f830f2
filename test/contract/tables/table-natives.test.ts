/** The natives of tables: their results, and their messages for wrong arguments. */

import { describe, expect, it } from 'vitest';
import { tableModel } from '#pickaxe/contract/gas/model.js';
import { Transaction, type TransactionOptions } from '../transaction.ts';

const MODULE = `
  (module m G (defcap G () true)
    (defschema person name:string age:integer)
    (deftable people:{person})
    (deftable none:{person}))
  (create-table people)
  (insert people "b" { "name": "Bob", "age": 40 })
  (insert people "c" { "name": "Cat", "age": 50 })
  (insert people "a" { "name": "Ann", "age": 30 })`;

function people(options?: TransactionOptions): Transaction {
  const transaction = new Transaction(options);
  transaction.run(MODULE);
  return transaction;
}

describe.each([4, 5] as const)('in dialect %i', (dialect) => {
  it.each([
    ['(keys people)', '["a" "b" "c"]'],
    ['(read people "a")', '{"age": 30,"name": "Ann"}'],
    ['(read people "a" [])', '{"age": 30,"name": "Ann"}'],
    ['(read people "a" ["name"])', '{"name": "Ann"}'],
    ['(with-read people "a" { "name" := n, "age" := a } [n a])', '["Ann" 30]'],
    ['(with-default-read people "a" { "name": "" } { "name" := n } n)', '"Ann"'],
    ['(with-default-read people "z" { "name": "none" } { "name" := n } n)', '"none"'],
    ['(select people (where "age" (< 35)))', '[{"age": 40,"name": "Bob"} {"age": 50,"name": "Cat"}]'],
    ['(select people ["name"] (where "age" (< 35)))', '[{"name": "Bob"} {"name": "Cat"}]'],
    ['(fold-db people (lambda (k o) (< k "c")) (lambda (k o) [k (at "age" o)]))', '[["a" 30] ["b" 40]]'],
    ['(update people "a" { "age": 31 })', '"Write succeeded"'],
    ['(write people "d" { "name": "Dan", "age": 1 })', '"Write succeeded"'],
    ['(create-table none)', '"TableCreated"'],
  ])('%s is %s', (code, text) => {
    expect(people({ dialect }).run(code)).toBe(text);
  });

  it('keys are in the order of their code points', () => {
    const transaction = people({ dialect });
    for (const key of ['\u{10000}', '\uFFFF', '']) {
      transaction.run(`(write people "${key}" { "name": "", "age": 0 })`);
    }
    expect(transaction.run('(keys people)')).toBe('["" "a" "b" "c" "\uFFFF" "\u{10000}"]');
  });

  it('a row that was not found can be caught', () => {
    expect(people({ dialect }).run('(try "none" (at "name" (read people "z")))')).toBe('"none"');
  });

  it.each(['create-table', 'describe-table'])('%s is not for code of modules', (native) => {
    const code = `(module n G (defcap G () true) (defun f () (${native} m.none))) (n.f)`;
    expect(people({ dialect }).faultOf(code).message).toContain('op-level');
  });
});

describe('what dialect 4 says of', () => {
  it.each([
    ['(read people "z")', 'tx-failure', 'read: row not found: z'],
    ['(with-read people "z" { "name" := n } n)', 'tx-failure', 'with-read: row not found: z'],
    ['(read people "a" ["x"])', 'eval', 'read: invalid column: "x"'],
    ['(read people "a" [1])', 'eval', 'read: only Strings/Symbols allowed for col keys'],
    ['(with-read people "a" { "x" := n } n)', 'eval', 'Bad column in binding: x'],
    ['(insert people "a" { "name": "A", "age": 1 })', 'db', 'Insert: row found for key a'],
    ['(update people "z" { "age": 1 })', 'db', 'Update: no row found for key z'],
    ['(select people (constantly 1))', 'eval', 'select: filter returned non-boolean value: 1'],
    [
      '(fold-db people (constantly 1) (constantly 1))',
      'eval',
      'Unexpected return value from fold-db query condition 1',
    ],
    ['(fold-db 1 (constantly true) (constantly 1))', 'eval', 'Expected table as first argument to foldDB, got: 1'],
    ['(create-table people)', 'db', 'Insert: value already at key: m_people'],
    ['(read none "a")', 'tx-failure', 'read: row not found: a'],
    ['(keys none)', 'db', 'query: no such table: USER_m_none'],
    ['(txids none 0)', 'db', 'query: no such table: USER_m_none'],
    ['(insert none "a" { "name": "A", "age": 1 })', 'db', 'writeValue: no such table: USER_m_none'],
    ['(update none "a" { "age": 1 })', 'db', 'Update: no row found for key a'],
  ])('%s', (code, kind, message) => {
    expect(people().faultOf(code)).toMatchObject({ kind, message });
  });

  it.each([
    ['(select people (constantly 1))', 'select: filter returned non-boolean value: integer'],
    [
      '(fold-db people (constantly 1) (constantly 1))',
      'Unexpected return value from fold-db query condition, received value of type: integer',
    ],
    [
      '(fold-db 1 (constantly true) (constantly 1))',
      'Expected table as first argument to foldDB, got argument of type: integer',
    ],
  ])('%s on chain', (code, message) => {
    expect(people({ environment: { isOnChain: true } }).faultOf(code).message).toBe(message);
  });

  const table = 'table:table:<{row}>';
  const row = 'object:<{row}>';
  it.each([
    ['(keys 1)', '1', `${table} -> [string]`],
    ['(keys m.people 1)', 'm.people 1', `${table} -> [string]`],
    [
      '(read m.people 1)',
      'm.people 1',
      `[${table} key:string -> ${row}, ${table} key:string columns:[string] -> ${row}]`,
    ],
    ['(insert m.people "a" 1)', 'm.people "a" 1', `${table} key:string object:${row} -> string`],
    ['(update m.people "a" 1)', 'm.people "a" 1', `${table} key:string object:object:~<{row}> -> string`],
    ['(create-table 1)', '1', `${table} -> string`],
    ['(describe-table 1)', '1', `${table} -> object:*`],
    ['(txids m.people "a")', 'm.people "a"', `${table} txid:integer -> [integer]`],
    ['(txlog m.people "a")', 'm.people "a"', `${table} txid:integer -> [object:*]`],
    ['(keylog m.people 1 1)', 'm.people 1 1', `${table} key:string txid:integer -> [object:*]`],
    ['(with-read m.people "a")', '"m.people" ""a""', `${table} key:string bindings:binding:<{row}> -> <a>`],
  ])('%s', (code, received, signature) => {
    const message = `Invalid arguments, received [${received}] for ${signature}`;
    expect(people().faultOf(code)).toMatchObject({ kind: 'args', message });
  });
});

describe('what dialect 5 says of', () => {
  const database = (text: string) => `Error during database operation: ${text}`;
  it.each([
    ['(read people "z")', 'tx-failure', 'No value found in table m_people for key: z'],
    ['(with-read people "z" { "name" := n } n)', 'tx-failure', 'No value found in table m_people for key: z'],
    [
      '(insert people "a" { "name": "A", "age": 1 })',
      'db',
      database('Value already found while in Insert mode in table m_people at key "a"'),
    ],
    ['(update people "z" { "age": 1 })', 'db', database('No row found during update in table m_people at key z')],
    ['(select people (lambda (o) 1))', 'eval', 'expected bool value, got 1'],
    ['(fold-db people (lambda (k o) 1) (lambda (k o) 1))', 'eval', 'expected bool value, got 1'],
    ['(create-table people)', 'db', database('Table m_people already exists')],
    ['(read none "a")', 'db', database('Table m_none not found')],
    ['(keys none)', 'db', database('Table m_none not found')],
    ['(update none "a" { "age": 1 })', 'db', database('Table m_none not found')],
    ['(txids people 0)', 'eval', 'Unbound variable txids'],
  ])('%s', (code, kind, message) => {
    expect(people({ dialect: 5 }).faultOf(code)).toMatchObject({ kind, message });
  });

  it('columns that a row does not have: nothing', () => {
    expect(people({ dialect: 5 }).run('(read people "a" ["x" "name"])')).toBe('{"name": "Ann"}');
  });
});

it('describe-table tells of the schema', () => {
  const described = '{"module": "m","name": "people","type": "{person}"}';
  expect(people().run('(describe-table people)')).toBe(described);
  expect(people({ dialect: 5 }).run('(describe-table people)')).toBe(described.replace('{person}', 'table{m.person}'));
  const without = '(module n G (defcap G () true) (deftable t)) (describe-table t)';
  expect(new Transaction().run(without)).toBe('{"module": "n","name": "t","type": "*"}');
});

describe('gas', () => {
  it.each([
    ['(read people "a")', 10 + 2],
    ['(read people "a" ["name"])', 10 + 2],
    ['(with-read people "a" { "name" := n } n)', 13 + 2],
    ['(with-default-read people "a" { "name": "" } { "name" := n } n)', 14 + 2],
    ['(with-default-read people "z" { "name": "" } { "name" := n } n)', 14],
    ['(keys people)', 40_000 + 3],
    // The requested columns, at least 1, and for each row its columns and the call of the function.
    ['(select people (constantly true))', 40_000 + 1 + 3 * (2 + 1)],
    ['(select people ["name" "age"] (constantly true))', 40_000 + 2 + 3 * (2 + 1)],
    ['(fold-db people (constantly true) (constantly 1))', 40_000 + 1 + 3 * (2 + 2)],
    // A tenth of the bytes of the key and of the row.
    ['(insert people "d" { "name": "D", "age": 1 })', 100 + 5 + 33],
    ['(update people "a" { "age": 1 })', 100 + 5 + 15],
    ['(create-table none)', 250 + 6],
    ['(txids people 0)', 100_000 + 1],
    ['(txlog people 7)', 100_000 + 2 * 2],
    ['(keylog people "b" 0)', 100_000 + 2],
  ])('%s takes %i', (code, units) => {
    const transaction = people();
    transaction.commit(7n, '(update people "b" { "age": 41 }) (update people "c" { "age": 51 })');
    const { gas } = transaction.evaluator;
    gas.model = tableModel();
    const before = gas.used;
    transaction.run(code);
    expect(gas.used - before).toBe(BigInt(units));
  });
});
