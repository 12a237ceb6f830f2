import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { MeasuringThreadData } from '#pickaxe/miner/engine/cpu/kernels/measure-kernels.js';

const shared = (...words: number[]) => {
  const array = new Int32Array(new SharedArrayBuffer(4 * words.length));
  array.set(words);
  return array;
};

test('a measuring thread that rests sleeps, and measures nothing', async () => {
  const data: MeasuringThreadData = {
    names: ['wasm'],
    index: 0,
    cpus: [],
    current: shared(0),
    rates: new Float64Array(new SharedArrayBuffer(8)),
    // So that turn 0, which stands for a rest, would be a new turn.
    turns: shared(-1),
    ended: shared(0, 0, 0, 0),
  };
  const { current, rates, turns, ended } = data;
  const script = new URL(import.meta.resolve('#pickaxe/miner/engine/cpu/kernels/measuring-thread.js'));
  const thread = new Worker(script, { workerData: data });
  onTestFinished(async () => void (await thread.terminate()));
  await once(thread, 'message');
  for (const turn of [1, 2]) {
    // Only a thread that sleeps can be woken.
    const sleeps = () => Atomics.notify(current, 0) === 1 || turns[0] === 0;
    await vi.waitUntil(sleeps, { timeout: 60_000, interval: 1 });
    expect([turns[0], ended[0]]).toEqual([turn === 1 ? -1 : 1, 0]);
    const answered = once(thread, 'message');
    Atomics.store(current, 0, turn);
    Atomics.notify(current, 0);
    expect(await answered).toEqual([turn]);
    expect(rates[0]).toBeGreaterThan(0);
    Atomics.store(current, 0, 0);
    Atomics.notify(current, 0);
  }
});
