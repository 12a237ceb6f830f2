/** Which code may use tables, and where. */

import { describe, expect, it } from 'vitest';
import { Transaction } from '../transaction.ts';
import { bank } from './modules.ts';

describe('who may use a table', () => {
  const READING = ['(read bank.accounts "a")', '(keys bank.accounts)', '(select bank.accounts (constantly true))'];
  const WRITING = ['(write bank.accounts "a" { "balance": 1.0, "owner": "a" })', '(create-table bank.others)'];

  it.each([...READING, ...WRITING])('is asked of the governance in dialect 4: %s', (code) => {
    expect(bank().faultOf(code)).toMatchObject({ message: 'not you', kind: 'tx-failure' });
  });

  it.each([...READING, ...WRITING])('must have been asked before in dialect 5: %s', (code) => {
    const message = 'Module admin necessary for operation but has not been acquired:bank';
    expect(bank({ dialect: 5 }).faultOf(code).message).toBe(message);
  });

  it.each([4, 5] as const)('is not asked of the code of its module, in dialect %i', (dialect) => {
    expect(bank({ dialect }).run('(bank.get "a")')).toBe('{"balance": 0.0,"owner": "a"}');
  });

  it.each(READING)('does not matter for reading with AllowReadInLocal: %s', (code) => {
    expect(bank({ flags: ['AllowReadInLocal'] }).run(code)).toContain('a');
  });

  it.each(WRITING)('matters for writing with AllowReadInLocal: %s', (code) => {
    expect(bank({ flags: ['AllowReadInLocal'] }).faultOf(code).message).toBe('not you');
  });
});

describe('a table of an earlier version of its module', () => {
  const version = (extra: string) => `(module m G (defcap G () true) (deftable t:{s}) (defschema s v:integer)
    ${extra} (defun put (k v) (write t k { "v": v })))`;
  const USER = '(module user G (defcap G () true) (defun f () (m.put "a" 1)) (defun count () (length (keys m.t))))';

  function upgraded(bless: (hash: string) => string, dialect: 4 | 5 = 4): { transaction: Transaction; hash: string } {
    const transaction = new Transaction({ dialect });
    transaction.run(`${version('')} (create-table t) ${USER}`);
    const hash = transaction.evaluator.database.modules.get('m')?.hash ?? '';
    transaction.run(version(bless(hash)));
    return { transaction, hash };
  }

  it.each([4, 5] as const)('cannot be used by code of that version, in dialect %i', (dialect) => {
    const { transaction, hash } = upgraded(() => '(defconst X 1)', dialect);
    expect(transaction.faultOf('(user.f)').message).toBe(`Execution aborted, hash not blessed for module m: ${hash}`);
  });

  it('can be used if the new version blesses that one', () => {
    expect(upgraded((hash) => `(bless "${hash}")`).transaction.run('(user.f)')).toBe('"Write succeeded"');
  });

  it('can be used by whoever governs the module in dialect 4 only', () => {
    expect(upgraded(() => '(defconst X 1)').transaction.run('(user.count)')).toBe('0');
    const { transaction } = upgraded(() => '(defconst X 1)', 5);
    expect(transaction.faultOf('(user.count)').message).toMatch(/^Execution aborted, hash not blessed/);
  });
});

describe('where code can only read, or not even that', () => {
  const READ_ONLY_5 = 'Error during database operation: Operation disallowed in read-only or sys-only mode';

  it.each([
    ['(bank.pure-get "a")', 'Illegal database access attempt (readRow)'],
    ['(enforce-guard (bank.guard "a"))', 'Illegal database access attempt (readRow)'],
    ['(try 1 (bank.all))', 'Illegal database access attempt (keys)'],
    ['(enforce (= [] (bank.all)) "no")', 'Illegal database access attempt (keys)'],
    ['(bank.tried-put "b")', 'Illegal database access attempt (writeRow)'],
    ['(bank.one-of-put "b")', 'Illegal database access attempt (writeRow)'],
    ['(enforce (try true (= {} (bank.get "a"))) "no")', 'Illegal database access attempt (readRow)'],
  ])('%s fails in dialect 4', (code, message) => {
    expect(bank().faultOf(code)).toMatchObject({ message, kind: 'eval' });
  });

  it.each([
    ['(bank.tried "a")', '"a"'],
    ['(bank.tried "z")', '"tried"'],
    ['(bank.one-of "a")', 'true'],
  ])('%s is %s', (code, text) => {
    expect(bank().run(code)).toBe(text);
    expect(bank({ dialect: 5 }).run(code)).toBe(text);
  });

  it.each([
    ['(bank.tried-put "b")'],
    ['(bank.one-of-put "b")'],
    ['(enforce (= "" (bank.open "b")) "no")'],
    ['(try [] (bank.all))'],
    ['(pure (bank.open "b"))'],
  ])('%s fails in dialect 5', (code) => {
    expect(bank({ dialect: 5 }).faultOf(code)).toMatchObject({ message: READ_ONLY_5, kind: 'db' });
  });

  it('conditions and user guards can read in dialect 5', () => {
    expect(bank({ dialect: 5 }).faultOf('(bank.pure-get "a")').message).toBe('no');
    expect(bank({ dialect: 5 }).run('(enforce-guard (bank.guard "a"))')).toBe('true');
    expect(bank({ dialect: 5 }).run('(pure (bank.tried "a"))')).toBe('"a"');
  });

  it.each([4, 5] as const)('constants cannot, in dialect %i', (dialect) => {
    const code = '(module other G (defcap G () true) (defconst ROW (bank.get "a")))';
    const message = dialect === 4 ? 'Illegal database access attempt (readRow)' : READ_ONLY_5;
    expect(bank({ dialect }).faultOf(code).message).toBe(message);
  });

  it.each([4, 5] as const)('tables cannot be made by what is tried, in dialect %i', (dialect) => {
    const transaction = new Transaction({ dialect });
    transaction.run('(module m G (defcap G () true) (defschema s v:integer) (deftable t:{s}))');
    const message = dialect === 4 ? 'Illegal database access attempt (createUserTable)' : READ_ONLY_5;
    expect(transaction.faultOf('(try "" (create-table t))').message).toBe(message);
  });

  it('a module that is called back through a reference can only read in dialect 5', () => {
    const code = `
      (interface callee (defun call:string ()))
      (module caller G (defcap G () true) (defschema s v:integer) (deftable t:{s})
        (defun put () (write t "a" { "v": 1 }))
        (defun count () (with-default-read t "a" { "v": 0 } { "v" := v } v))
        (defun call (to:module{callee}) (to::call)))
      (create-table t)
      (module putter G (defcap G () true) (implements callee) (defun call:string () (caller.put)))
      (module reader G (defcap G () true) (implements callee) (defun call:string () (format "{}" [(caller.count)])))`;
    const transactions = ([4, 5] as const).map((dialect) => new Transaction({ dialect }));
    for (const each of transactions) each.run(code);
    expect(transactions[0].run('(caller.call putter)')).toBe('"Write succeeded"');
    expect(transactions[1].faultOf('(caller.call putter)').message).toBe(READ_ONLY_5);
    expect(transactions[1].run('(caller.call reader)')).toBe('"0"');
    expect(transactions[1].run('(caller.put)')).toBe('"Write succeeded"');
  });
});

it.each([4, 5] as const)('governance is enforced once in a transaction, in dialect %i', (dialect) => {
  const transaction = new Transaction({ dialect });
  transaction.run(`
    (module m G (defschema s n:integer) (deftable asked:{s})
      (defun times:integer () (with-default-read asked "" { "n": 0 } { "n" := n } n))
      (defcap G () (write asked "" { "n": (+ 1 (times)) })))
    (create-table asked)`);
  const acquired = dialect === 5 ? '(acquire-module-admin m)' : '';
  const insertions = (...keys: string[]) => keys.map((key) => `(insert m.asked "${key}" { "n": 0 })`).join('');
  transaction.forget();
  for (const [keys, times] of [
    [['a', 'b'], '1'],
    [['c', 'd'], '2'],
  ] as const) {
    expect(transaction.run(`${acquired} ${insertions(...keys)} ${acquired} (m.times)`)).toBe(times);
    transaction.forget();
  }
});
