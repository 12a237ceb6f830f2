import { expect, test } from 'vitest';
import { type Addon, threadClock } from '#pickaxe/miner/engine/cpu/kernels/native-kernels.js';
import { nativeIsBuilt } from './loadable-kernels.ts';

/** Keeps this thread busy until its own clock has moved on by this time. */
function work(clock: () => number, ms: number): void {
  const until = clock() + ms;
  while (clock() < until);
}

test('a thread without processor time, as under Wine or without the addon, has the wall clock', () => {
  const load = () => {
    throw new Error('it must not be asked');
  };
  const clock = threadClock(() => undefined, load);
  const before = performance.now();
  expect(clock()).toBeGreaterThanOrEqual(before);
  expect(clock()).toBeLessThanOrEqual(performance.now());
});

test('a thread with processor time has that', () => {
  let ms = 5;
  const clock = threadClock(
    () => ms,
    () => ({ threadCpuMs: () => ms++ }) as unknown as Addon,
  );
  expect([clock(), clock()]).toEqual([5, 6]);
});

test.runIf(nativeIsBuilt && process.platform === 'linux')('processor time stands still while the thread sleeps', () => {
  const clock = threadClock();
  work(clock, 1);
  const [wall, own] = [performance.now(), clock()];
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
  expect(performance.now() - wall).toBeGreaterThan(40);
  expect(clock() - own).toBeLessThan(40);
});
