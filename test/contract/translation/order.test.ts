import { expect, it } from 'vitest';
import { orderOfDefinitions } from '#pickaxe/contract/translation/order.js';

/** The figures were found by hand, with the search that the sources of the language state. */
it.each<[Record<string, string>, string]>([
  [{}, ''],
  // Of definitions without a relation, the last by name comes first.
  [{ b: '', a: '', c: '' }, 'c b a'],
  // Names are compared by their characters' numbers.
  [{ a: '', B: '', 'b-1': '' }, 'b-1 a B'],
  [{ a: '', b: 'a', c: 'b' }, 'a b c'],
  [{ a: 'b', b: 'c', c: '' }, 'c b a'],
  // Of two users, the first one comes first, because the search goes to the last one first.
  [{ a: '', b: 'a', c: 'a' }, 'a b c'],
  [{ x: 'a b', a: '', b: '', c: 'b' }, 'b c a x'],
  [{ d: 'b c', b: 'a', c: 'a', a: '' }, 'a b c d'],
])('definitions that name others, %j, are in the order %s', (uses, order) => {
  const sets = Object.entries(uses).map(([name, used]) => [name, new Set(used.split(' ').filter(Boolean))] as const);
  expect(orderOfDefinitions(new Map(sets)).join(' ')).toBe(order);
});
