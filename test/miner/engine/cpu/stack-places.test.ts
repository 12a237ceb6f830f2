import { expect, test } from 'vitest';
import { StackSlots } from '#pickaxe/miner/engine/cpu/kernels/wasm-kernels.js';

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
