/** Gas by the size of what is stored, and by the size of loaded code. */

import { describe, expect, it } from 'vitest';
import { GasMeter } from '#pickaxe/contract/gas/meter.js';
import { tableModel } from '#pickaxe/contract/gas/model.js';
import { bitCount, characterCount, Sizes } from '#pickaxe/contract/gas/sizes.js';
import { ModuleName, QualifiedName } from '#pickaxe/contract/names.js';
import { Decimal } from '#pickaxe/contract/values/decimal.js';
import { timeOfText } from '#pickaxe/contract/values/time-parsing.js';
import {
  CapabilityGuard,
  DefpactGuard,
  type Guard,
  KeysetGuard,
  KeysetRefGuard,
  MAX_DEPTH,
  ModuleGuard,
  ModuleRef,
  UserGuard,
  type Value,
} from '#pickaxe/contract/values/values.js';

const KEY = '70c787fcfe6c6f4ec23d13c2e94682bc90952f7cec06c7dbac1c012b0b6678b9';
const OLD = ['DisablePact43', 'DisablePact44', 'DisablePact45', 'DisableInlineMemCheck'];

function charged(charge: (gas: GasMeter) => void, flags: readonly string[] = []): number {
  const set = new Set(flags);
  const gas = new GasMeter({ dialect: 4, model: tableModel(set), flags: set });
  charge(gas);
  return Number(gas.used);
}

const object = (fields: Record<string, Value>): ReadonlyMap<string, Value> => new Map(Object.entries(fields));
const decimal = (text: string): Decimal => Decimal.parse(text) ?? expect.fail(text);
const time = (text: string) => timeOfText(text, 4);
const nested = (depth: number): Value => {
  let value: Value = [];
  for (let at = 1; at < depth; at++) value = [value];
  return value;
};

describe('the size of', () => {
  const fun = new QualifiedName(new ModuleName('m', 'ns'), 'f');
  // A qualified name: 32 bytes, its module with 24 + 50 + 16 + 52, and a text of 50.
  const funSize = 32 + 142 + 50;
  const guards: [string, Guard, number][] = [
    ['keyset', new KeysetGuard([KEY]), 24 + 32 + 136 + 40 + 64],
    ['keyset without keys', new KeysetGuard([]), 24 + 8 + 40 + 64],
    ['keyset with another predicate', new KeysetGuard(['a', 'b'], 'ns.m.f'), 24 + 56 + 146 + 16 + funSize],
    ['keyset reference', new KeysetRefGuard('ns.k'), 56],
    ['module guard', new ModuleGuard(new ModuleName('m'), 'g'), 24 + 82 + 50],
    ['pact guard', new DefpactGuard('id', 'g'), 24 + 52 + 50],
    ['user guard', new UserGuard(fun, [1n, true]), 24 + 16 + funSize + 56 + 40 + 32],
    ['capability guard', new CapabilityGuard(fun, []), 24 + funSize + 8 + 8],
    ['capability guard of a defpact', new CapabilityGuard(fun, [1n], 'id'), 24 + funSize + 32 + 40 + 16 + 52],
  ];
  it.each(guards)('a %s', (_, guard, size) => {
    expect(new Sizes().guard(guard)).toBe(16 + size);
    expect(new Sizes().value(guard)).toBe(32 + size);
  });

  it.each<[string, Value, number]>([
    ['an empty text', '', 16 + 48],
    ['a text', 'abc', 16 + 54],
    ['characters beyond U+FFFF', '\u{1f600}\u{1f600}', 16 + 52],
    ['an integer', -5n, 16 + 8],
    ['the largest short integer', 2n ** 72n - 1n, 16 + 9],
    ['an integer of 64 bits', 2n ** 64n - 1n, 16 + 8],
    ['an integer of 80 bits', -(2n ** 79n), 16 + 10],
    ['a decimal', decimal('1.5'), 56 + 8],
    ['a decimal with a large mantissa', decimal('123456789012345678901234567890.5'), 56 + 12],
    ['a bool', false, 16],
    ['a time', time('2020-01-01T00:00:00Z'), 48],
    ['an empty list', [], 56],
    ['a list', [1n, 'a'], 72 + 40 + 82],
    ['an empty object', object({}), 0],
    ['an object', object({ a: 1n, bc: true }), 96 + 50 + 52 + 40 + 32],
    ['a module', new ModuleRef(new ModuleName('m'), [new ModuleName('i', 'n')]), 16 + 82 + 16 + 32 + 140],
    ['an interface', new ModuleRef(new ModuleName('i'), undefined), 16 + 82 + 8],
  ])('%s', (_, value, size) => {
    expect(new Sizes().value(value)).toBe(16 + size);
  });

  it.each<[bigint, number]>([
    [-5n, 0],
    [0n, 0],
    [1n, 0],
    [2n, 1],
    [100_001n, 2],
    [10n ** 30n + 1n, 6],
    [10n ** 400n + 1n, 80],
    [10n ** 5002n, 1001],
  ])('the integer %i before version 4.5', (integer, size) => {
    expect(new Sizes({ hasOldIntegers: true }).value(integer)).toBe(32 + size);
  });

  it('counts bits and characters', () => {
    expect([0n, 1n, -1n, 255n, 256n, 2n ** 4096n].map(bitCount)).toEqual([0, 1, 1, 8, 9, 4097]);
    expect(['', 'ä', '\u{1f600}a', '\ud800\ud800', '\udc00'].map(characterCount)).toEqual([0, 1, 2, 2, 1]);
  });

  it('has bounds', () => {
    const shared = Array.from({ length: 21 }).reduce<Value>((value) => [value, value], 1n);
    expect(() => new Sizes().value(shared)).toThrow('A value has more than 1048576 parts');
    expect(new Sizes().value(nested(MAX_DEPTH))).toBe(16 + 56 + (MAX_DEPTH - 1) * (16 + 64));
    expect(() => new Sizes().value(nested(MAX_DEPTH + 1))).toThrow(`A value is nested more than ${MAX_DEPTH} deep`);
  });
});

describe('what is written', () => {
  const everything = object({
    b: decimal('1.0'),
    n: 'abc',
    g: new KeysetGuard([KEY]),
    i: -5n,
    l: [1n, 2n, 3n],
    t: time('2020-01-01T00:00:00Z'),
    o: object({ z: 1n }),
    f: true,
  });
  const mixed = object({
    a: 1n,
    b: decimal('2.0090909999999999999999'),
    d: 'a'.repeat(23),
    f: Array.from({ length: 12 }, () => 1n),
    g: object({ aa: 1n, bb: 2n, cc: 3n }),
    c: true,
    e: time('2016-07-22T12:00:00Z'),
  });

  it.each<[string, (gas: GasMeter) => void, number, readonly string[]]>([
    ['a row', (gas) => gas.write('a', object({ b: decimal('1.0') })), 5 + 18, []],
    ['a longer key', (gas) => gas.write('a-longer-key', object({ b: decimal('1.0') })), 8 + 18, []],
    ['a row of all kinds', (gas) => gas.write('x', everything), 184, []],
    ['an older row', (gas) => gas.write('a', object({ balance: decimal('1.0'), nickname: 'a' })), 43, OLD],
    ['an older row of all kinds', (gas) => gas.write('b', object({ name: mixed })), 216, OLD],
    ['a small object', (gas) => gas.write('a', object({ name: object({ a: 1n, b: 2n }) })), 44, OLD],
    ['a table', (gas) => gas.createTable('basic-module_accounts'), 9, []],
    ['another table', (gas) => gas.createTable('basic-module_accounts-with-longname'), 12, []],
    ['a keyset', (gas) => gas.defineKeyset('a', new KeysetGuard(['s'])), 29, []],
    ['a keyset with two keys', (gas) => gas.defineKeyset('c', new KeysetGuard(['s', 'a'])), 38, []],
    [
      'a namespace',
      (gas) => gas.defineNamespace('a', new KeysetRefGuard('a-key'), new KeysetRefGuard('a-key')),
      23,
      [],
    ],
    ['a yielded object', (gas) => gas.yieldObject(object({ r: 'a' })), 18, []],
    ['a larger yielded object', (gas) => gas.yieldObject(object({ g: 'b', y: 'b' })), 36, []],
  ])('%s', (_, charge, cost, flags) => {
    expect(charged(charge, flags)).toBe(cost);
  });
});

describe('what is read', () => {
  it.each<[string, (gas: GasMeter) => void, number]>([
    ['a row', (gas) => gas.read(3), 3],
    ['keys', (gas) => gas.keys(4), 4],
    ['no keys', (gas) => gas.keys(0), 0],
    ['all columns of a selection', (gas) => gas.select(undefined), 1],
    ['no columns of a selection', (gas) => gas.select(0), 1],
    ['some columns of a selection', (gas) => gas.select(3), 3],
    ['a folded table', (gas) => gas.foldDb(), 1],
    ['a resumed object', (gas) => gas.resume(2), 2],
    ['a module', (gas) => gas.lookUpModule(), 1],
    ['an imported module', (gas) => gas.useModule(), 1],
    ['a keyset', (gas) => gas.readKeyset(), 1],
    ['a namespace', (gas) => gas.readNamespace(), 1],
    ['a call', (gas) => gas.call('f'), 1],
  ])('%s', (_, charge, cost) => {
    expect(charged(charge)).toBe(cost);
  });
});

describe('a principal', () => {
  const fun = new QualifiedName(new ModuleName('m'), 'f');
  it.each<[string, Guard, number]>([
    ['k:', new KeysetGuard([KEY]), 5],
    ['w: of short keys', new KeysetGuard(['a', 'b']), 5],
    ['w: of long keys', new KeysetGuard([KEY, KEY.replace('7', '8')]), 15],
    ['r:', new KeysetRefGuard('k'.repeat(100)), 5],
    ['m:', new ModuleGuard(new ModuleName('m'), 'g'), 5],
    ['p:', new DefpactGuard('id', 'g'), 5],
    // The quotes count, too, and each character counts two bytes.
    ['u:', new UserGuard(fun, ['ä'.repeat(31)]), 10],
    ['c:', new CapabilityGuard(fun, [], 'i'.repeat(60)), 5],
    ['c: with a longer pact id', new CapabilityGuard(fun, [], 'i'.repeat(61)), 10],
  ])('%s', (_, guard, cost) => {
    expect(charged((gas) => gas.principal(guard))).toBe(cost);
  });
});

describe('a module that is loaded', () => {
  const code = '(module a G\n  (defcap G () true)\n)';
  const load = (name: string, members: readonly string[], text: string, isInterface = false) => {
    return (gas: GasMeter) => gas.loadModule(new ModuleName(name), members, text, isInterface);
  };

  it('costs by its name, members and code', () => {
    expect(charged(load('a', ['G'], code), OLD)).toBe(23);
    expect(charged(load('long', ['G', 'f'], code), OLD)).toBe(24);
    expect(charged(load('k', ['G'], code, true), OLD)).toBe(23);
  });

  it('costs an estimate of its memory, too', () => {
    expect(charged(load('a', ['G'], code))).toBe(23 + 60_000 + Math.ceil(0.145 * 34));
    expect(charged(load('a', ['G'], code, true))).toBe(23 + 60_000 + Math.ceil(0.035 * 34));
    // Of a longer text the estimate shows each thousandth. The charge for the code itself is as with the flag.
    const long = 'x'.repeat(1_000);
    for (const [isInterface, memory] of [
      [false, 60_145],
      [true, 60_035],
    ] as const) {
      const plain = charged(load('a', ['G'], long, isInterface), OLD);
      expect(charged(load('a', ['G'], long, isInterface)) - plain).toBe(memory);
      expect(charged(load('a', ['G'], `${long}x`, isInterface)) - plain).toBe(memory + 1);
    }
  });

  it('costs no memory with a flag, which modules since version 4.3 do not heed', () => {
    expect(charged(load('a', ['G'], code), ['DisableInlineMemCheck'])).toBe(60_028);
    expect(charged(load('a', ['G'], code, true), ['DisableInlineMemCheck'])).toBe(23);
  });

  it('is many operations of the fixed model', () => {
    const gas = new GasMeter({ dialect: 4, model: { kind: 'fixed', rate: 10n } });
    gas.loadModule(new ModuleName('a'), ['G', 'f'], code);
    expect(gas.used).toBe(50n);
    gas.keys(3);
    expect(gas.used).toBe(80n);
  });
});
