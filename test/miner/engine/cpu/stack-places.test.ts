import { expect, test } from 'vitest';
import { HIT_WORDS, packSearch, ROW_COUNTERS } from '#pickaxe/miner/engine/cpu/kernels/kernel.js';
import { loadWasm, StackSlots } from '#pickaxe/miner/engine/cpu/kernels/wasm-kernels.js';
import { jobOf, nothingSolves, someHeaderHex } from '../../../interfaces/jobs.ts';

/** Simulates calls whose time, in ms, depends on the number of ignored arguments. Counts the calls by place. */
function call(places: StackSlots, times: number, msAt: Record<number, number>): Map<number, number> {
  const calls = new Map<number, number>();
  for (let i = 0; i < times; i++) {
    const { length } = places.next();
    calls.set(length, (calls.get(length) ?? 0) + 1);
    places.learn(msAt[length]);
  }
  return calls;
}

test('a kernel mostly runs in its fastest place, and tries the others now and then', () => {
  const places = new StackSlots();
  const msAt = { 0: 2.1, 1: 3.7, 64: 1, 65: 1.05 };
  expect(call(places, 16, msAt).size).toBe(4);
  call(places, 48, msAt);
  expect(call(places, 6400, msAt)).toEqual(
    new Map([
      [0, 100],
      [1, 100],
      [64, 6100],
      [65, 100],
    ]),
  );
});

test('a kernel moves when its place has become slow or another one fast', () => {
  const places = new StackSlots();
  call(places, 128, { 0: 1, 1: 1.05, 64: 1.1, 65: 1.2 });
  expect(call(places, 64, { 0: 2, 1: 1.05, 64: 1.1, 65: 1.2 }).get(1)).toBeGreaterThan(55);
  call(places, 64, { 0: 1, 1: 1.05, 64: 0.5, 65: 0.6 });
  expect(call(places, 64, { 0: 1, 1: 1.05, 64: 0.5, 65: 0.6 }).get(64)).toBe(61);
});

test('a call whose time is not passed has no effect', () => {
  const places = new StackSlots();
  expect(places.next()).toHaveLength(0);
  expect(places.next()).toHaveLength(0);
  places.learn(1);
  for (let i = 1; i < 4; i++) {
    expect(places.next()).toHaveLength(0);
    places.learn(1);
  }
  expect(places.next()).toHaveLength(1);
  expect(places.next()).toHaveLength(1);
});

/** @returns the places of 20 calls of a kernel, as numbers of ignored arguments, each once */
function placesOf(pages: number, counters: number): number[] {
  const kernel = loadWasm('wasm-simd');
  const range = { lane: 0, step: 1, page: 0, pages, counter: 0, counters };
  const search = packSearch(jobOf(someHeaderHex, nothingSolves), 1, range);
  const [hits, current] = [new Uint32Array(HIT_WORDS), Int32Array.of(1)];
  const { apply } = Reflect;
  const places = new Set<number>();
  Reflect.apply = ((call: () => unknown, self: unknown, ignored: readonly unknown[]) => {
    places.add(ignored.length);
    return apply(call, self, ignored);
  }) as typeof apply;
  try {
    for (let i = 0; i < 20; i++) kernel.search(search, current, hits);
  } finally {
    Reflect.apply = apply;
  }
  return [...places];
}

test('a WebAssembly kernel tries its places, and learns from long calls with full rows only', () => {
  expect(placesOf(16, ROW_COUNTERS)).toEqual(expect.arrayContaining([0, 1, 64, 65]));
  expect(placesOf(15, ROW_COUNTERS)).toEqual([0]);
  expect(placesOf(16, ROW_COUNTERS - 1)).toEqual([0]);
});
