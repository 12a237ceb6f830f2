import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ContractError } from '#pickaxe/contract/errors.js';
import { ModuleName, QualifiedName } from '#pickaxe/contract/names.js';
import { Decimal } from '#pickaxe/contract/values/decimal.js';
import { compareForEquality, printed, printedCapability, typeText } from '#pickaxe/contract/values/printing.js';
import { Time } from '#pickaxe/contract/values/time.js';
import {
  areEqual,
  CapabilityGuard,
  DefpactGuard,
  KeysetGuard,
  KeysetRefGuard,
  ModuleGuard,
  ModuleRef,
  Unstorable,
  UserGuard,
  type Value,
} from '#pickaxe/contract/values/values.js';
import { decimals, literals } from '../arbitraries.ts';
import { evaluate } from '../evaluate.ts';

const decimal = (mantissa: bigint, places: number) => new Decimal(mantissa, places);
const module = new ModuleName('m');
const inNamespace = new ModuleName('m', 'ns');
const member = new QualifiedName(module, 'f');
const unordered = new Map<string, Value>([
  ['b', 1n],
  ['a', [1n, 2n]],
]);

class TestFunction extends Unstorable {
  readonly type = 'function';
  override toString(): string {
    return '(defun f)';
  }
  override equals(other: Unstorable): boolean {
    return this === other;
  }
}

describe('printed values', () => {
  it.each<[string, Value, string, string]>([
    ['an integer', -12n, '-12', '-12'],
    ['a decimal without places', decimal(3n, 0), '3.0', '3.0'],
    ['a whole decimal', decimal(200n, 2), '2.00', '2.0'],
    ['a negative whole decimal', decimal(-200n, 2), '-2.00', '-2.0'],
    ['zero with places', decimal(0n, 4), '0.0000', '0.0'],
    ['a fraction', decimal(150n, 2), '1.50', '1.50'],
    ['a bool', true, 'true', 'true'],
    ['a text, whose characters are not escaped', 'say "hi"\n\\', '"say "hi"\n\\"', '"say "hi"\n\\"'],
    ['a time, without its fraction', new Time(1_000_001n), '"1970-01-01T00:00:01Z"', '"1970-01-01T00:00:01Z"'],
    ['a list', [1n, 'a', [true]], '[1 "a" [true]]', '[1 "a" [true]]'],
    ['an empty list', [], '[]', '[]'],
    ['an object', unordered, '{"b": 1,"a": [1 2]}', '{"a": [1 2],"b": 1}'],
    ['an empty object', new Map(), '{}', '{}'],
    [
      'a keyset',
      new KeysetGuard(['k2', 'k1', 'k2'], 'keys-any'),
      'KeySet {keys: [k1, k2],pred: keys-any}',
      'KeySet {keys: [k1, k2],pred: keys-any}',
    ],
    ['a reference to a keyset', new KeysetRefGuard('ns.k'), "'ns.k", "'ns.k"],
    [
      'a user guard',
      new UserGuard(member, [1n, 'a']),
      'UserGuard {fun: m.f,args: [1, "a"]}',
      'UserGuard {fun: m.f,args: [1, "a"]}',
    ],
    [
      'a module guard',
      new ModuleGuard(inNamespace, 'n'),
      'ModuleGuard {module: ns.m,name: n}',
      'ModuleGuard {module: ns.m,name: n}',
    ],
    ['a pact guard', new DefpactGuard('P', 'n'), 'PactGuard {pactId: P,name: n}', 'PactGuard {pactId: P,name: n}'],
    [
      'a capability guard',
      new CapabilityGuard(member, [1n]),
      'CapabilityGuard {name: m.f,args: [1],pactId: }',
      'CapabilityGuard {name: m.f,args: [1],pactId: }',
    ],
    [
      'a capability guard of a defpact',
      new CapabilityGuard(member, [], 'P'),
      'CapabilityGuard {name: m.f,args: [],pactId: P}',
      'CapabilityGuard {name: m.f,args: [],pactId: P}',
    ],
    ['a module reference', new ModuleRef(inNamespace, []), 'ns.m', 'ns.m'],
    ['a function', new TestFunction(), '(defun f)', '(defun f)'],
  ])('%s', (_, value, in4, in5) => {
    expect(printed(value, { dialect: 4 })).toBe(in4);
    expect(printed(value, { dialect: 5 })).toBe(in5);
  });

  it('have commas in lists of formatted texts and of capabilities', () => {
    expect(printed([1n, [2n, 3n], unordered], { dialect: 4, commas: true })).toBe('[1, [2, 3], {"a": [1, 2],"b": 1}]');
    const name = new QualifiedName(inNamespace, 'TRANSFER');
    expect(printedCapability(name, ['a', [1n, 2n], decimal(1n, 0)], 4)).toBe('(ns.m.TRANSFER "a" [1, 2] 1.0)');
    expect(printedCapability(name, [], 4)).toBe('(ns.m.TRANSFER)');
  });

  it('read back as literals are the same', () => {
    fc.assert(
      fc.property(literals, (value) => {
        const back = evaluate(printed(value, { dialect: 4 })).value;
        expect(areEqual(back, value)).toBe(true);
        expect(printed(back, { dialect: 4 })).toBe(printed(value, { dialect: 4 }));
      }),
    );
  });

  it('of decimals read back have the same value in both dialects', () => {
    fc.assert(
      fc.property(decimals, fc.constantFrom(4 as const, 5 as const), (value, dialect) => {
        expect(areEqual(evaluate(printed(value, { dialect }), dialect).value, value)).toBe(true);
      }),
    );
  });
});

describe('types in messages', () => {
  it.each<[Value, string, string]>([
    [1n, 'integer', 'integer'],
    [decimal(1n, 1), 'decimal', 'decimal'],
    ['a', 'string', 'string'],
    [true, 'bool', 'bool'],
    [new Time(0n), 'time', 'time'],
    [[1n], '[<a>]', 'list'],
    [new Map(), 'object:*', 'object'],
    [new KeysetGuard(['a']), 'keyset', 'guard'],
    [new KeysetRefGuard('k'), 'guard', 'guard'],
    [new ModuleRef(module, [new ModuleName('i'), new ModuleName('j', 'ns')]), 'module{i,ns.j}', 'modref'],
    [new ModuleRef(module, undefined), 'module{}', 'modref'],
    [new TestFunction(), 'function', 'closure'],
  ])('%s', (value, in4, in5) => {
    expect(typeText(value, 4)).toBe(in4);
    expect(typeText(value, 5)).toBe(in5);
  });

  it('say what cannot be compared', () => {
    const failing = (a: Value, b: Value) => () => compareForEquality(a, b, 4);
    expect(failing(1n, [1n])).toThrow(new ContractError('eval', 'cannot compare incompatible types: integer, [<a>]'));
    expect(failing(new Map(), 'a')).toThrow('cannot compare incompatible types: object:*, string');
    expect(failing(new KeysetGuard(['a']), new ModuleRef(module, []))).toThrow(
      'cannot compare incompatible types: keyset, module{}',
    );
    expect(compareForEquality(1n, [1n], 5)).toBe(false);
    expect(compareForEquality(1n, 'a', 4)).toBe(false);
    expect(compareForEquality([1n], [[1n]], 4)).toBe(false);
    expect(compareForEquality(new KeysetGuard(['a']), new KeysetRefGuard('a'), 4)).toBe(false);
  });
});
