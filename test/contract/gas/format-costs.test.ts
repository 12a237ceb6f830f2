/** The estimated lengths by which `format` is charged. */

import { expect, it } from 'vitest';
import { costOfFormat, oldCostOfFormat } from '#pickaxe/contract/gas/costs.js';
import { ModuleName, QualifiedName } from '#pickaxe/contract/names.js';
import { Decimal } from '#pickaxe/contract/values/decimal.js';
import { timeOfText } from '#pickaxe/contract/values/time-parsing.js';
import {
  CapabilityGuard,
  DefpactGuard,
  KeysetGuard,
  KeysetRefGuard,
  ModuleGuard,
  ModuleRef,
  UserGuard,
  type Value,
  Walk,
} from '#pickaxe/contract/values/values.js';

/** The estimated length of a list of values: the template is made longer until it costs one more unit. */
function lengthOf(...values: Value[]): number {
  const cost = (characters: number) => costOfFormat('x'.repeat(characters), values, new Walk());
  const before = cost(0);
  for (let characters = 1; ; characters++) if (cost(characters) > before) return 10 * (before + 1) - characters;
}

const decimal = (text: string): Decimal => Decimal.parse(text) ?? expect.fail(text);
const fun = new QualifiedName(new ModuleName('m', 'ns'), 'f');

it.each<[string, Value, number]>([
  ['a text', 'é😀', 2],
  ['true', true, 5],
  ['an integer below 1000', 999n, 2],
  ['1000', 1000n, 3],
  ['1', 1n, 0],
  ['0', 0n, 0],
  ['an integer below 0', -12345n, 0],
  ['a decimal, by its digits', decimal('12.5'), 2],
  ['a time', timeOfText('2020-01-01T00:00:00Z', 4), 100],
  ['a list, of which each item has one more', ['a', ['bc']], 1 + 1 + 1 + (1 + 2)],
  ['an object, with its names', new Map<string, Value>([['name', 'abc']]), 4 + 1 + 3],
  ['a keyset', new KeysetGuard(['a', 'bc']), 1 + 1 + 1 + 2 + 'keys-all'.length],
  ['a keyset reference, without dots', new KeysetRefGuard('ns.k'), 3],
  ['a module guard', new ModuleGuard(new ModuleName('m', 'ns'), 'guard'), 3 + 5],
  ['a guard of a defpact', new DefpactGuard('id', 'guard'), 2 + 5],
  ['a user guard', new UserGuard(fun, ['abc', true]), 4 + 1 + 3 + 1 + 5],
  ['a capability guard', new CapabilityGuard(fun, ['abc']), 4 + 1 + 3],
  ['a capability guard of a defpact', new CapabilityGuard(fun, ['abc'], 'id'), 4 + 1 + 3 + 2],
  ['a reference to a module', new ModuleRef(new ModuleName('m', 'ns'), []), 3],
])('%s', (_, value, length) => {
  expect(lengthOf(value)).toBe(1 + length);
  expect(lengthOf(value, 'x')).toBe(1 + length + 1 + 1);
});

it('before version 4.8 what is printed is counted', () => {
  expect(oldCostOfFormat('{} {}', ['é😀', 1000n], new Walk())).toBe(5 + 2 + 4);
  expect(oldCostOfFormat('', [[1n, 2n]], new Walk())).toBe('[1, 2]'.length);
});
