/** Variants of texts and of JSON, which are the same in each run. */

import { type Random, seededRandom } from '#pickaxe/mock-node/random.js';

const STRAY = '=:[]{}"\'#.,- \n';

/** @returns variants of a text with one typo each: a letter too many or too few, or a line twice */
export function typosIn(text: string, count: number): string[] {
  const random = seededRandom(text.length);
  const below = (limit: number) => Math.floor(random() * limit);
  const typos = [
    (before: string, after: string) => before + after.slice(1),
    (before: string, after: string) => before + after[0] + after,
    (before: string, after: string) => before + (after[1] ?? '') + after[0] + after.slice(2),
    (before: string, after: string) => before + STRAY[below(STRAY.length)] + after,
    (before: string, after: string) => before + before.slice(before.lastIndexOf('\n')) + after,
  ];
  return Array.from({ length: count }, () => {
    const at = below(text.length);
    return typos[below(typos.length)](text.slice(0, at), text.slice(at));
  });
}

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

const OTHERS: readonly Json[] = [
  ...[null, 0, -1, 1, 1.5, 2 ** 53, 1e21, true, false, '', ' ', 'x', '0', '1', '-1', '1.5', '1e3', 'AAAA', 'k:a'],
  ...['A'.repeat(42), 'A'.repeat(43), 'a'.repeat(64), 'x'.repeat(300), [], {}, ['x'], [[]], { a: 1 }, { int: 1 }],
];

/** @param random gives numbers in [0, 1) @returns the value with a part left out, doubled or exchanged for another */
export function changed(value: unknown, random: () => number): unknown {
  const oneOf = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)];
  const isLeaf = value === null || typeof value !== 'object' || Object.keys(value).length === 0;
  if (isLeaf || random() < 0.1) return oneOf(OTHERS);
  if (Array.isArray(value)) {
    const at = Math.floor(random() * value.length);
    const how = random();
    if (how < 0.15) return value.toSpliced(at, 1);
    return how < 0.3 ? [...value, value[at]] : value.with(at, changed(value[at], random));
  }
  const key = oneOf(Object.keys(value));
  const { [key]: part, ...others } = value as Record<string, unknown>;
  const how = random();
  if (how < 0.15) return others;
  return how < 0.25 ? { ...value, [`${key}2`]: part } : { ...others, [key]: changed(part, random) };
}

/** @returns a function that draws one of its arguments */
export function drawer(random: Random): <T>(...items: readonly T[]) => T {
  return (...items) => items[Math.floor(random() * items.length)];
}
