/** The charges of the gas models, and the failure at the limit. */

import { describe, expect, it } from 'vitest';
import type { Dialect } from '#pickaxe/contract/dialect.js';
import { MAX_STEPS, TreeEvaluator } from '#pickaxe/contract/evaluator/evaluator.js';
import { costOfLength, costOfNative } from '#pickaxe/contract/gas/costs.js';
import { GasMeter, type GasOptions, MAX_LOG_ENTRIES } from '#pickaxe/contract/gas/meter.js';
import { describeModel, type GasModel, initialGasLimit, tableModel } from '#pickaxe/contract/gas/model.js';
import { NATIVES } from '#pickaxe/contract/natives/natives.js';
import { parseProgram } from '#pickaxe/contract/syntax/program.js';
import type { Expression } from '#pickaxe/contract/syntax/tree.js';
import { faultOf } from '../faults.ts';
import { vectors } from '../vectors.ts';

const fixed = (rate: bigint): GasModel => ({ kind: 'fixed', rate });

function tableMeter(flags: readonly string[] = [], options: GasOptions = {}): GasMeter {
  const set = new Set(flags);
  return new GasMeter({ dialect: 4, model: tableModel(set), flags: set, ...options });
}

function run(code: string, gas: GasMeter, dialect: Dialect = 4, maxSteps = MAX_STEPS): void {
  const evaluator = new TreeEvaluator({ dialect, natives: NATIVES, gas, maxSteps });
  for (const form of parseProgram(code, dialect)) evaluator.evaluate(form as Expression);
}

function gasOf(code: string, flags: readonly string[] = []): bigint {
  const gas = tableMeter(flags);
  run(code, gas);
  return gas.used;
}

/** Natives that need modules, tables, keysets or defpacts, and calls that only dialect 5 allows. */
const NEEDS_MORE = /\bm\.|-keyset|continue-pact|\(\(lambda/;

describe('the table model', () => {
  it.each(vectors.gas.lines.filter(({ code }) => !NEEDS_MORE.test(code)))('of $code', ({ code, gas }) => {
    expect(gasOf(code)).toBe(BigInt(gas));
  });

  it.each([
    ['+', 1],
    ['enforce', 1],
    ['emit-event', 1],
    ['at', 2],
    ['yield', 2],
    ['fold', 3],
    ['map', 4],
    ['hash', 5],
    ['sqrt', 6],
    ['keyset-ref-guard', 7],
    ['enforce-guard', 8],
    ['diff-time', 8],
    ['read', 10],
    ['namespace', 12],
    ['with-read', 13],
    ['with-default-read', 14],
    ['define-namespace', 25],
    ['update', 100],
    ['describe-table', 100],
    ['verify-spv', 100],
    ['create-table', 250],
    ['select', 40_000],
    ['txlog', 100_000],
    ['list', 1_000_000],
  ])('of a call of %s', (name, cost) => {
    expect(costOfNative(name, 40_000)).toBe(cost);
  });

  it.each([
    ['(+ (make-list 11 "a") (make-list 5 "b"))', 35],
    ['(+ { "a": 1 } { "b": 2, "c": 3 })', 4],
    ['(make-list 0 1)', 1],
    ['(make-list -5 1)', 1],
    ['(enumerate 1 9 0)', 2],
    ['(enumerate 10 0 -3)', 5],
    // Three integers of 34 bytes each.
    [`(enumerate ${10n ** 82n} ${10n ** 82n + 2n})`, 37],
    ['(sort [])', 2],
    ['(distinct [])', 2],
    ['(sort ["b" "a" "b"] [{ "a": 1 }])', 5],
    ['(reverse (make-list 1000 0))', 1013],
    ['(concat (make-list 1000 "0123456789"))', 1092],
    ['(format "no place" ["0123456789"])', 4],
    ['(format "{}" [-123456789012 (time "2020-01-01T00:00:00Z")])', 16],
    ['(format "{}" [true 1234567890.5 ["a"]])', 6],
    ['(hash-keccak256 ["AAAA" "AAAA"])', 5],
    ['(let ((f (lambda (x) x))) (f (f 1)))', 2],
    ['(map (lambda (x) (+ x 1)) [1 2])', 8],
    ['(identity (cond (false 1) (true 2) (true 3) 4))', 2 + 2],
    ['(and false (hash 1))', 1],
    ['(list)', 1_000_000],
    ['(identity 1)', 2],
  ])('of %s', (code, cost) => {
    expect(gasOf(code)).toBe(BigInt(cost));
  });

  it.each([
    ['(+ x x)', 1 + 2 * 10],
    ['(- x 1)', 1 + 10],
    ['(* 2 x)', 3 + 10],
    ['(/ x x)', 3 + 2 * 10],
    ['(+ (- x) 1.0)', 1 + 1 + 10],
    ['(mod x 7)', 1],
    ['(log 2 x)', 3],
    ['(^ x 0)', 4],
    ['(^ x 1)', 4],
    ['(^ x 2)', 4 + 2 * 10],
    // A square of x, and the product of x and the square, which has 66 bytes.
    ['(^ x 3)', 4 + 2 * 10 + 10 + 43],
    ['(^ x 4)', 4 + 2 * 10 + 2 * 43],
    ['(^ 1 1000000000000000000000)', 4],
    ['(shift x -3)', 1],
    ['(shift x 1)', 1 + 10],
    ['(shift 1 512)', 1 + 40],
  ])('of large numbers: %s', (code, cost) => {
    expect(gasOf(`(let ((x ${10n ** 80n + 1n})) ${code})`)).toBe(BigInt(cost));
  });

  it.each([
    [0, 1],
    [1, 1],
    [10, 1],
    [100, 2],
    [1000, 58],
    [5000, 469],
    [10_000, 1025],
  ])('of sorting %i items', (items, cost) => {
    expect(costOfLength(items)).toBe(cost);
  });

  it('sums thousandths and rounds down, in dialect 5 up', () => {
    // Two charges of 50.38: fractions of a unit count.
    const gas4 = tableMeter();
    gas4.concat(30, 2);
    gas4.concat(30, 2);
    expect(gas4.used).toBe(100n);
    const gas5 = tableMeter([], { dialect: 5 });
    gas5.charge5('concat', () => 50_380);
    gas5.charge5('concat', () => 50_380);
    expect([gas5.used, gas5.usedThousandths]).toEqual([101n, 100_760n]);
  });
});

describe('older rules', () => {
  it.each<[string, number, readonly string[]]>([
    ['(make-list 10 "a")', 2, ['DisablePact45']],
    ['(make-list 1000 "a")', 59, ['DisablePact45']],
    ['(make-list 5000 8)', 470, ['DisablePact45']],
    ['(enumerate 1 1000)', 59, ['DisablePact45']],
    ['(str-to-list "0123456789")', 2, ['DisablePact45']],
    ['(enforce true (format "{} {} {} {} {}" [1, 2, 3, 4, 5]))', 24, ['DisablePact45', 'DisablePact48']],
    [
      '(enforce true (format "{} {} {} {} {}" [1, 2, 3, 4, 5]))',
      5,
      ['DisablePact45', 'DisablePact48', 'DisablePact44'],
    ],
    ['(enforce true (format "{} {} {} {} {}" [1, 2, 3, 4, 5]))', 1, ['DisablePact48']],
    ['(format "{}" [[1 "a"] "over"])', 4 + 2 + 8 + 4, ['DisablePact48']],
    ['(reverse [1 2 3])', 2, ['DisablePact48']],
    ['(concat ["a" "b"])', 2, ['DisablePact48']],
    ['(+ x x)', 21, ['DisablePact48']],
    ['(+ x x)', 1, []],
    ['(^ x 2)', 4 + 20, ['DisablePact48']],
    ['(^ x 2)', 4, ['DisablePact48', 'DisablePact43']],
    ['(+ x x)', 1, ['DisablePact48', 'DisablePact43']],
    ['(shift 1 512)', 1, ['DisablePact47']],
    ['(shift 1 512)', 1, ['DisablePact43']],
  ])('of %s: %i', (code, cost, flags) => {
    expect(gasOf(`(let ((x ${10n ** 79n + 1n})) ${code})`, flags)).toBe(BigInt(cost));
  });

  it('says nothing of a message that is no text, unless it is evaluated', () => {
    run('(enforce true 1)', tableMeter());
    expect(faultOf(() => run('(enforce true 1)', tableMeter(['DisablePact45']))).kind).toBe('args');
  });

  it('divides by the number of texts', () => {
    const fault = faultOf(() => run('(concat [])', tableMeter(['DisablePact410'])));
    expect(fault).toMatchObject({ kind: 'eval', message: 'divide by zero' });
    expect(gasOf('(concat [])')).toBe(51n);
  });

  it('of going through tables belong to the model, which is chosen once', () => {
    const gas = tableMeter(['DisableInlineMemCheck']);
    gas.flags = new Set();
    for (const name of ['keys', 'select', 'fold-db']) gas.native(name);
    expect(gas.used).toBe(600n);
    gas.model = tableModel(gas.flags);
    gas.native('keys');
    expect(gas.used).toBe(40_600n);
  });
});

describe('the fixed model', () => {
  it.each<[string, number, readonly string[]]>([
    // Arithmetic has two charges: for the call and for its operands.
    ['(+ 1 2)', 2, []],
    ['(+ 1 2)', 1, ['DisablePact43']],
    ['(- 1)', 1, []],
    ['(map (+ 1) (make-list 8 8))', 11, ['DisablePact43']],
    ['(+ "a" "b")', 2, []],
    ['(sort ["a"] [{ "a": 1 }])', 3, []],
    ['(sort [])', 1, []],
    ['(concat [])', 2, []],
    ['(format "{}" [1])', 2, []],
    ['(format "a" [1])', 1, []],
    ['(^ 2 1)', 1, []],
    ['(^ 2 2)', 2, []],
    ['(^ 2 7)', 4, []],
    ['(^ 1 7)', 4, []],
    ['(^ 2.0 7)', 2, []],
    ['(log 2 8)', 1, []],
    ['(log 2.0 8)', 2, []],
    ['(shift 0 8)', 5, []],
    ['(let ((f (lambda () 1))) (f))', 1, []],
  ])('charges for each operation of %s', (code, operations, flags) => {
    const gas = new GasMeter({ model: fixed(7n), flags: new Set(flags) });
    run(code, gas);
    expect(gas.used).toBe(7n * BigInt(operations));
  });

  it('has any rate', () => {
    const gas = new GasMeter({ model: fixed(10n ** 30n) });
    run('(if true 1 2)', gas);
    expect(gas.used).toBe(10n ** 30n);
  });

  it('is free by default', () => {
    const gas = new GasMeter({ dialect: 4, limit: 0n });
    run('(map (+ 1) (make-list 8 8))', gas);
    expect(gas.used).toBe(0n);
  });

  it('does not count a power of many bits one by one', () => {
    const gas = new GasMeter({ model: fixed(1n) });
    gas.power(1n, 2n ** 65_535n);
    expect(gas.used).toBe(65_535n);
  });
});

describe('the limit', () => {
  it('is exceeded by what goes beyond it', () => {
    const gas = new GasMeter({ dialect: 4, model: fixed(1n), limit: 11n, flags: new Set(['DisablePact43']) });
    run('(map (+ 1) (make-list 8 8))', gas);
    const fault = faultOf(() => run('(+ 1 2)', gas));
    expect(fault).toMatchObject({ kind: 'gas', message: 'Gas limit (11) exceeded: 12' });
    expect(fault.position).toMatchObject({ line: 1, column: 0 });
    expect(gas.used).toBe(12n);
  });

  it('counts thousandths', () => {
    const gas = tableMeter([], { limit: 50n });
    gas.concat(0, 0);
    gas.set(0n);
    expect(faultOf(() => gas.concat(0, 1)).message).toBe('Gas limit (50) exceeded: 50');
    gas.set(0n);
    gas.limit = 51n;
    gas.concat(0, 10);
  });

  it('is named otherwise in dialect 5', () => {
    const gas = tableMeter([], { limit: 10n, dialect: 5 });
    expect(faultOf(() => gas.native('insert')).message).toBe('Gas limit "10"exceeded: 25');
  });

  it('stops try and enforce-one', () => {
    for (const code of ['(try 1 (hash 1))', '(enforce-one "" [(> (length (hash 1)) 1)])']) {
      expect(faultOf(() => run(code, tableMeter([], { limit: 5n }))).kind).toBe('gas');
    }
  });

  it('of 0 refuses everything, and no limit nothing', () => {
    expect(initialGasLimit(4)).toBe(0n);
    expect(initialGasLimit(5)).toBeUndefined();
    expect(faultOf(() => run('(hash 1)', tableMeter([], { limit: 0n }))).message).toBe('Gas limit (0) exceeded: 5');
    run('(hash 1)', tableMeter());
  });

  it('is looked at with the next operation after the gas was set', () => {
    const gas = new GasMeter({ dialect: 4, limit: 10n });
    gas.set(11n);
    expect(faultOf(() => gas.native('+')).message).toBe('Gas limit (10) exceeded: 11');
  });

  it('is not reached by what failed and was taken back', () => {
    const gas = tableMeter();
    gas.native('hash');
    const restore = gas.mark();
    gas.native('read');
    restore();
    expect(gas.used).toBe(5n);
  });
});

describe('the log', () => {
  it('has what every operation cost', () => {
    const gas = tableMeter();
    expect(gas.takeLog()).toBeUndefined();
    expect(gas.takeLog()).toEqual(['TOTAL: 0']);
    gas.keys(0);
    run('(let ((f (lambda (x) x))) (distinct [(f 1)]))', gas);
    gas.concat(1, 1);
    expect(gas.takeLog()).toEqual(['TOTAL: 54', 'distinct: 2', 'lambda: 1', 'distinct: 1', 'concat: 50']);
    expect(gas.takeLog()).toEqual(['TOTAL: 0']);
  });

  it('has the operation that exceeds the limit', () => {
    const gas = tableMeter([], { limit: 1n });
    gas.takeLog();
    faultOf(() => gas.native('hash'));
    expect(gas.takeLog()).toEqual(['TOTAL: 5', 'hash: 5']);
  });

  it('is bounded', () => {
    const gas = new GasMeter();
    gas.takeLog();
    for (let at = 0; at < MAX_LOG_ENTRIES; at++) gas.call();
    expect(faultOf(() => gas.call())).toMatchObject({
      kind: 'eval',
      message: `A gas log has more than ${MAX_LOG_ENTRIES} entries`,
    });
  });
});

describe('the names of the models', () => {
  it.each([
    [fixed(0n), 'fixed 0', 'constant rate gas model with fixed rate 0'],
    [fixed(12n), 'fixed 12', 'constant rate gas model with fixed rate 12'],
    [tableModel(), 'table', 'table-based cost model'],
  ])('%o', (model, name, description) => {
    expect(describeModel(model)).toEqual({ name, description });
  });
});

describe('what the charge itself takes', () => {
  it('is counted in steps, also for values that are not shown', () => {
    const steps = Array.from({ length: 30 }, (_, at) => `(v${at + 1} [v${at} v${at}])`).join(' ');
    const code = `(let* ((v0 [1]) ${steps}) (format "{}" [1 v30]))`;
    run(code, new GasMeter(), 4, 1000);
    expect(faultOf(() => run(code, tableMeter(), 4, 1000)).message).toBe('Code takes more than 1000 steps');
  });
});
