import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { ContractError } from '#pickaxe/contract/errors.js';
import { isDottedName, ModuleName, QualifiedName } from '#pickaxe/contract/names.js';
import { Decimal } from '#pickaxe/contract/values/decimal.js';
import { jsonOf, jsonTextOf, valueOfJson } from '#pickaxe/contract/values/json.js';
import { printed } from '#pickaxe/contract/values/printing.js';
import { Time } from '#pickaxe/contract/values/time.js';
import {
  areEqual,
  CapabilityGuard,
  compareTexts,
  DefpactGuard,
  type Guard,
  isStorable,
  KeysetGuard,
  KeysetRefGuard,
  MAX_DEPTH,
  ModuleGuard,
  ModuleRef,
  order,
  type Storable,
  sortedObject,
  UserGuard,
} from '#pickaxe/contract/values/values.js';
import { storables } from '../arbitraries.ts';

const one = new Decimal(10n, 1);
const member = new QualifiedName(new ModuleName('m'), 'f');

function reference(name: string, interfaces: readonly string[] = [], isEqualByName = false): ModuleRef {
  const names = interfaces.map((each) => new ModuleName(each));
  return new ModuleRef(new ModuleName(name), names, isEqualByName);
}

/** @param innermost the value inside of `depth` lists */
function nested(depth: number, innermost: Storable = 1n): Storable {
  let value = innermost;
  for (let i = 0; i < depth; i++) value = [value];
  return value;
}

/** A list that contains the same list twice, and so on: 2^depth items in little memory. */
function doubled(depth: number): Storable {
  let value: Storable = 1n;
  for (let i = 0; i < depth; i++) value = [value, value];
  return value;
}

/** Guards of every kind. Any two of them differ, many in one part only. */
const GUARDS: readonly (() => Guard)[] = [
  () => new KeysetGuard(['a']),
  () => new KeysetGuard(['b']),
  () => new KeysetGuard(['a'], 'keys-any'),
  () => new KeysetRefGuard('g'),
  () => new KeysetRefGuard('h'),
  () => new UserGuard(member, [1n]),
  () => new UserGuard(member, [2n]),
  () => new UserGuard(new QualifiedName(new ModuleName('m'), 'h'), [1n]),
  () => new CapabilityGuard(member, [1n]),
  () => new CapabilityGuard(member, [2n]),
  () => new CapabilityGuard(member, [1n], 'p'),
  () => new CapabilityGuard(new QualifiedName(new ModuleName('n'), 'f'), [1n]),
  () => new ModuleGuard(new ModuleName('m'), 'g'),
  () => new ModuleGuard(new ModuleName('n'), 'g'),
  () => new ModuleGuard(new ModuleName('m'), 'h'),
  () => new DefpactGuard('p', 'g'),
  () => new DefpactGuard('q', 'g'),
  () => new DefpactGuard('p', 'h'),
];

test('a guard is equal to one of the same parts, and to no other', () => {
  for (const [i, a] of GUARDS.entries())
    for (const [j, b] of GUARDS.entries()) expect([i, j, areEqual(a(), b())]).toEqual([i, j, i === j]);
});

describe('equality', () => {
  it.each<[string, Storable, Storable, boolean]>([
    ['decimals by value', one, new Decimal(1n, 0), true],
    ['an integer and a decimal', 1n, one, false],
    ['times', new Time(5n), new Time(5n), true],
    ['lists in another order', [1n, 2n], [2n, 1n], false],
    ['a list and a longer one', [1n], [1n, 2n], false],
    ['a list and a text of the same parts', ['a', 'b'], 'ab', false],
    ['an object and a list without entries', new Map(), [], false],
    [
      'objects in another order',
      new Map([
        ['a', 1n],
        ['b', 2n],
      ]),
      new Map([
        ['b', 2n],
        ['a', 1n],
      ]),
      true,
    ],
    ['objects with other keys', new Map([['a', 1n]]), new Map([['b', 1n]]), false],
    ['keysets as sets', new KeysetGuard(['a', 'b', 'a']), new KeysetGuard(['b', 'a']), true],
    ['keysets with other predicates', new KeysetGuard(['a']), new KeysetGuard(['a'], 'keys-any'), false],
    [
      'user guards with equal arguments',
      new UserGuard(member, [one]),
      new UserGuard(member, [new Decimal(1n, 0)]),
      true,
    ],
    [
      'a module and an interface of one name',
      new ModuleRef(member.module, []),
      new ModuleRef(member.module, undefined),
      false,
    ],
    ['modules with equal interfaces', reference('m', ['i', 'j']), reference('m', ['i', 'j']), true],
    ['modules with other interfaces', reference('m', ['i', 'j']), reference('m', ['i']), false],
    ['modules whose interfaces do not count for one of them', reference('m', ['i'], true), reference('m'), true],
    ['modules whose interfaces do not count', reference('m', ['i'], true), reference('m', [], true), true],
    ['modules of other names', reference('m', ['i'], true), reference('n', ['i'], true), false],
  ])('of %s', (_, a, b, equal) => {
    expect(areEqual(a, b)).toBe(equal);
    expect(areEqual(b, a)).toBe(equal);
  });

  it('holds of a value and its copy', () => {
    fc.assert(
      fc.property(storables, storables, (value, other) => {
        expect(areEqual(value, value)).toBe(true);
        expect(areEqual([value], [value, other])).toBe(false);
        expect(areEqual(value, other)).toBe(areEqual(other, value));
        expect(isStorable(value)).toBe(true);
      }),
    );
  });
});

describe('order', () => {
  it('exists within integers, decimals, texts and times only', () => {
    expect(order(1n, 2n)).toBeLessThan(0);
    expect(order(one, new Decimal(1n, 0))).toBe(0);
    expect(order('b', 'a')).toBeGreaterThan(0);
    expect(order(new Time(1n), new Time(2n))).toBeLessThan(0);
    expect(order(1n, one)).toBeUndefined();
    expect(order(true, false)).toBeUndefined();
    expect(order([1n], [2n])).toBeUndefined();
  });

  it('of texts is that of their code points', () => {
    const unit = fc.constantFrom('a', 'b', '\u{d7ff}', '\u{e000}', '\u{ffff}', '\u{10000}', '\u{10001}', '\u{10ffff}');
    const texts = fc.string({ unit, maxLength: 5 });
    expect(compareTexts('\u{ffff}', '\u{10000}')).toBeLessThan(0);
    expect(compareTexts('\u{10000}', '\u{10001}')).toBeLessThan(0);
    expect(compareTexts('a', 'ab')).toBeLessThan(0);
    fc.assert(
      fc.property(texts, texts, (a, b) => {
        const points = (text: string) => [...text].map((character) => character.codePointAt(0)!);
        const [first, second] = [points(a), points(b)];
        const differs = first.findIndex((point, i) => point !== second[i]);
        const expected = differs < 0 ? first.length - second.length : first[differs] - (second[differs] ?? -1);
        expect(Math.sign(compareTexts(a, b))).toBe(Math.sign(expected));
      }),
    );
  });

  it('is that of the keys in a sorted object', () => {
    expect([
      ...sortedObject([
        ['b', 1n],
        ['\u{1f600}', 2n],
        ['a', 3n],
        ['\u{ffff}', 4n],
      ]).keys(),
    ]).toEqual(['a', 'b', '\u{ffff}', '\u{1f600}']);
  });
});

describe('values from hostile code', () => {
  it('are refused when they are nested too deep, and not before', () => {
    const deepest = nested(MAX_DEPTH);
    const tooDeep = nested(MAX_DEPTH + 1);
    const error = new ContractError('eval', 'A value is nested more than 500 deep');
    expect(printed(deepest, { dialect: 4 })).toHaveLength(2 * MAX_DEPTH + 1);
    expect(jsonTextOf(deepest)).toContain('{"int":1}');
    expect(areEqual(deepest, nested(MAX_DEPTH))).toBe(true);
    expect(isStorable(deepest)).toBe(true);
    for (const depth of [MAX_DEPTH + 1, 100_000]) {
      const value = depth === MAX_DEPTH + 1 ? tooDeep : nested(depth);
      expect(() => printed(value, { dialect: 4 })).toThrow(error);
      expect(() => jsonTextOf(value)).toThrow(error);
      expect(() => areEqual(value, nested(depth))).toThrow(error);
      expect(() => isStorable(value)).toThrow(error);
    }
    const guard = nested(MAX_DEPTH - 1, new UserGuard(member, [nested(5)]));
    expect(() => printed(guard, { dialect: 4 })).toThrow(error);
    expect(() => jsonTextOf(guard)).toThrow(error);
    const tooDeepJson = { a: jsonOf(deepest) };
    expect(() => valueOfJson(tooDeepJson, 4)).toThrow(error);
  });

  it('are refused when they have too many parts', () => {
    const error = new ContractError('eval', 'A value has more than 1048576 parts');
    expect(() => printed(doubled(200), { dialect: 4 })).toThrow(error);
    expect(() => jsonTextOf(doubled(200))).toThrow(error);
    expect(() => areEqual(doubled(200), doubled(200))).toThrow(error);
    expect(() => isStorable(doubled(200))).toThrow(error);
  });

  it('are refused when they have too many characters', () => {
    const error = new ContractError('eval', 'A value has more than 8388608 characters');
    const texts = nested(3, Array(18).fill('x'.repeat(500_000)));
    expect(() => printed(texts, { dialect: 4 })).toThrow(error);
    expect(() => jsonTextOf(texts)).toThrow(error);
    const keys = new KeysetGuard(Array.from({ length: 1000 }, (_, i) => `${i}`.repeat(20)));
    expect(() => printed(Array(200).fill(keys), { dialect: 4 })).toThrow(error);
    expect(() => printed(new Map([['k'.repeat(9_000_000), 1n]]), { dialect: 4 })).toThrow(error);
    expect(() => jsonTextOf(new Map([['k'.repeat(9_000_000), 1n]]))).toThrow(error);
  });
});

describe('names', () => {
  it.each([
    ['m', 'm', undefined],
    ['ns.m', 'm', 'ns'],
    ['my-mod%', 'my-mod%', undefined],
  ])('of the module %s', (text, name, namespace) => {
    const parsed = ModuleName.parse(text);
    expect(parsed).toEqual(new ModuleName(name, namespace));
    expect(parsed?.text).toBe(text);
  });

  it.each(['', '.', 'a.', '.a', '1a', 'a b', 'a.b.c', 'a..b', 'a(b'])('%j is no module', (text) => {
    expect(ModuleName.parse(text)).toBeUndefined();
  });

  it('of members have one or two points', () => {
    expect(QualifiedName.parse('ns.m.f')).toEqual(new QualifiedName(new ModuleName('m', 'ns'), 'f'));
    expect(QualifiedName.parse('m.f')?.text).toBe('m.f');
    for (const text of ['f', 'a.b.c.d', 'm.', '.f', 'm.1']) expect(QualifiedName.parse(text)).toBeUndefined();
  });

  it('can have letters of any script, and few signs', () => {
    for (const text of ['größe', 'x1', '%#+-_&$@<>=^?*!|/~', 'a.b.c']) expect(isDottedName(text)).toBe(true);
    for (const text of ['a:b', "a'b", 'a"b', 'a.b.c.d', 'ä ö', '9', '']) expect(isDottedName(text)).toBe(false);
  });
});
