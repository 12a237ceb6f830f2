/** Conditions and caught failures: what is evaluated, what counts as true, and the rules of earlier versions. */

import { describe, expect, it } from 'vitest';
import { tableModel } from '#pickaxe/contract/gas/model.js';
import type { Flag } from '#pickaxe/contract/runtime/environment.js';
import { KeysetGuard } from '#pickaxe/contract/values/values.js';
import { Transaction } from '../transaction.ts';

describe('what is wrong in a condition', () => {
  it.each([
    ['(enforce false 1)', 'eval', 'Invalid message argument, expected string 1'],
    ['(enforce 1 "no")', 'args', 'Invalid arguments, received [1 "no"] for test:bool msg:string -> bool'],
    ['(enforce-one "no" [1])', 'eval', 'Failure: expected boolean result in enforce-one'],
    ['(enforce-one "no" [])', 'tx-failure', 'no'],
    [
      '(enforce-one 1 [true])',
      'args',
      'Invalid arguments, received ["1" "[true]"] for msg:string tests:[bool] -> bool',
    ],
  ])('%s, in dialect 4', (code, kind, message) => {
    expect(new Transaction().faultOf(code)).toMatchObject({ kind, message });
  });

  it.each([
    ['(enforce false 1)', 'expected string value, got: 1'],
    ['(enforce 1 "no")', 'expected bool value, got 1'],
    ['(enforce-one "no" [1])', 'expected bool value, got 1'],
    ['(enforce-one 1 [false])', 'expected string value, got: 1'],
  ])('%s, in dialect 5', (code, message) => {
    expect(new Transaction({ dialect: 5 }).faultOf(code)).toMatchObject({ kind: 'eval', message });
  });

  it('messages of nodes do not show values', () => {
    const message = 'Invalid message argument, expected string, received argument of type: integer';
    expect(new Transaction({ environment: { isOnChain: true } }).faultOf('(enforce false 1)').message).toBe(message);
  });
});

describe('earlier versions', () => {
  const withFlag = (flag: Flag) => new Transaction({ flags: [flag] });

  it.each([
    ['(try 1 (/ 1 0))', '1'],
    // The first test that does not fail is the result.
    ['(enforce-one "no" [(/ 1 0) false true])', 'false'],
  ])('caught everything: %s', (code, text) => {
    expect(withFlag('DisablePact44').run(code)).toBe(text);
    expect(() => new Transaction().run(code)).toThrow('Division by 0: (1, 0)');
  });

  it('evaluated the default value in any case', () => {
    const code = '(try (enforce false "default") 1)';
    expect(new Transaction().run(code)).toBe('1');
    expect(withFlag('DisablePact44').faultOf(code).message).toBe('default');
  });

  it('evaluated the message of a condition in any case', () => {
    const code = '(enforce true (+ 1 1))';
    expect(new Transaction().run(code)).toBe('true');
    const transaction = withFlag('DisablePact45');
    transaction.evaluator.gas.flags = new Set(['DisablePact45']);
    expect(transaction.faultOf(code).kind).toBe('args');
  });

  it('did not charge for what was caught, but could not catch that the gas is used up', () => {
    const code = '(try 1 (enforce (= 1 2) "no"))';
    const used = (transaction: Transaction) => {
      transaction.evaluator.gas.model = tableModel();
      transaction.run(code);
      return transaction.evaluator.gas.used;
    };
    expect(used(new Transaction())).toBe(4n);
    expect(used(withFlag('DisablePact44'))).toBe(1n);
    const limited = withFlag('DisablePact44');
    limited.evaluator.gas.model = tableModel();
    limited.evaluator.gas.limit = 2n;
    expect(limited.faultOf(code)).toMatchObject({ kind: 'gas' });
  });
});

describe.each([4, 5] as const)('a predicate of a keyset, in dialect %i,', (dialect) => {
  function keyset(predicate: string, ...signed: string[]): Transaction {
    const signatures = signed.map((key) => ({ key, capabilities: [] }));
    const transaction = new Transaction({ dialect, environment: { signatures } });
    transaction.evaluator.database.keysets.set('k', new KeysetGuard(['a', 'b'], predicate));
    return transaction;
  }

  it('can be a native', () => {
    expect(keyset('=', 'a', 'b').run('(enforce-keyset "k")')).toBe('true');
    expect(keyset('=', 'a').faultOf('(enforce-keyset "k")').message).toMatch(/^Keyset failure \(=\)/);
    expect(keyset('+', 'a').faultOf('(enforce-keyset "k")').message).toBe('Invalid response from keyset predicate: 3');
  });

  it('can read tables in dialect 5 only', () => {
    const transaction = keyset('m.agree');
    transaction.run(`
      (module m G (defcap G () true) (defschema s v:integer) (deftable t:{s})
        (defun agree (count matched) (with-default-read t "a" { "v": 0 } { "v" := v } (= v 0))))
      (create-table t)`);
    if (dialect === 5) expect(transaction.run('(enforce-keyset "k")')).toBe('true');
    else expect(transaction.faultOf('(enforce-keyset "k")').message).toContain('Illegal database access attempt');
  });
});

it('the keyset that governs a new module is asked again for the rights in dialect 4 only', () => {
  const signatures = [{ key: 'a', capabilities: [] }];
  const [four, five] = ([4, 5] as const).map((dialect) => {
    const transaction = new Transaction({ dialect, environment: { signatures } });
    transaction.evaluator.database.keysets.set('k', new KeysetGuard(['a']));
    transaction.run("(module m 'k (defschema s v:integer) (deftable t:{s}))");
    transaction.evaluator.environment = { ...transaction.evaluator.environment, signatures: [] };
    return transaction;
  });
  expect(four.faultOf('(create-table t)').message).toBe("Keyset failure (keys-all): 'k");
  expect(five.run('(create-table t)')).toBe('"TableCreated"');
});
