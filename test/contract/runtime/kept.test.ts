/** The memory that values take, as an estimated number of characters. */

import { describe, expect, it } from 'vitest';
import { ModuleName, QualifiedName } from '#pickaxe/contract/names.js';
import { Kept, RunEnded } from '#pickaxe/contract/runtime/kept.js';
import { Decimal } from '#pickaxe/contract/values/decimal.js';
import { KeysetGuard, ModuleGuard, UserGuard, type Value } from '#pickaxe/contract/values/values.js';

/** @returns the least maximum with which the entry can be kept */
function memoryOf(...values: Value[]): number {
  let [least, most] = [0, 100_000];
  while (most - least > 0.25) {
    const middle = (least + most) / 2;
    try {
      new Kept(middle, 'it has').addEntry(values);
      most = middle;
    } catch {
      least = middle;
    }
  }
  return Math.round(2 * most) / 2;
}

const ENTRY = memoryOf();
const PART = memoryOf(1n) - ENTRY;
const fun = new QualifiedName(new ModuleName('m'), 'f');

describe('of an entry, besides its own memory,', () => {
  it('are those of its parts', () => {
    expect([ENTRY, PART]).toEqual([256, 32]);
  });

  it.each<[name: string, value: Value, parts: number, characters: number]>([
    ['a bool', true, 1, 0],
    ['a text', 'abc', 1, 3],
    ['an integer of 64 bits', 2n ** 63n - 1n, 1, 0],
    ['the least integer of 64 bits', -(2n ** 63n), 1, 0],
    ['an integer of 65 bits', 2n ** 63n, 1, 8],
    ['a larger integer', 16n ** 19n, 1, 10],
    ['a decimal', new Decimal(15n, 1), 1, 0],
    ['a large decimal', new Decimal(16n ** 19n, 5), 1, 10],
    ['a list', [1n, 'ab', ['c']], 5, 3],
    [
      'an object',
      new Map<string, Value>([
        ['key', 1n],
        ['k', 'v'],
      ]),
      5,
      5,
    ],
    ['a keyset', new KeysetGuard(['ab', 'c']), 3, 3],
    ['a user guard', new UserGuard(fun, ['ab', 1n]), 3, 2],
    ['a module guard', new ModuleGuard(new ModuleName('m'), 'guard'), 1, 0],
  ])('%s', (_, value, parts, characters) => {
    expect(memoryOf(value)).toBe(ENTRY + parts * PART + characters);
  });
});

it('the maximum itself is allowed, and the sum of all counts', () => {
  const kept = new Kept(10, 'it has');
  kept.add(4);
  kept.add(6);
  expect(() => kept.add(1)).toThrow(new RunEnded('it has more than 10 characters'));
});

it('a printed text counts four times', () => {
  new Kept(12, 'it has').addPrinted('abc');
  expect(() => new Kept(11, 'it has').addPrinted('abc')).toThrow(RunEnded);
});

describe('threads that count together', () => {
  const counters = () => {
    const shared = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
    return { shared, threads: [1, 2].map(() => new Kept(10, 'they have', shared)) };
  };
  const ended = new RunEnded('they have more than 10 characters');

  it('keep the maximum together, and once it is exceeded, all of them end', () => {
    const { shared, threads } = counters();
    const [one, other] = threads;
    one.add(4);
    other.add(6);
    expect(shared[0]).toBe(10);
    expect(() => one.add(1)).toThrow(ended);
    expect(() => other.add(0)).toThrow(ended);
  });

  it('count a part of a character as a whole one', () => {
    const { shared, threads } = counters();
    for (const thread of threads) thread.add(0.25);
    expect(shared[0]).toBe(2);
  });

  it('count no further above the maximum, however much there is', () => {
    const { shared, threads } = counters();
    threads[0].add(3);
    for (const thread of [...threads, ...threads]) expect(() => thread.add(2 ** 40)).toThrow(ended);
    expect(shared[0]).toBe(14);
  });
});
