import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Queue } from '#pickaxe/rig/notify/webhook.js';
import { PATIENCE } from '../../patience.ts';

/** Items whose processing the test ends. */
function queue(atOnce: number, most: number) {
  const begun: number[] = [];
  const dropped: number[] = [];
  const finish = new Map<number, () => void>();
  const made = new Queue<number>({
    atOnce,
    most,
    work: (item, stop) =>
      new Promise((resolve) => {
        begun.push(item);
        finish.set(item, resolve);
        stop.addEventListener('abort', () => resolve());
      }),
    dropped: (item) => dropped.push(item),
  });
  return { queue: made, begun, dropped, finish: (item: number) => finish.get(item)!() };
}

/** Called once the queue has ended. */
function ended(made: Queue<number>, withinMs: number) {
  const over = vi.fn();
  made.end(withinMs).then(over);
  return over;
}

test('items are processed in order, a few at a time, and the number of waiting ones is bounded', async () => {
  const { queue: made, begun, dropped, finish } = queue(2, 3);
  for (let item = 1; item <= 7; item++) made.push(item);
  expect(begun).toEqual([1, 2]);
  expect(dropped).toEqual([6, 7]);
  finish(2);
  await vi.waitFor(() => expect(begun).toEqual([1, 2, 3]), PATIENCE);
  made.push(8);
  expect(dropped).toEqual([6, 7]);
});

test('the end waits for all items', async () => {
  const { queue: made, begun, dropped, finish } = queue(1, 10);
  made.push(1);
  made.push(2);
  const over = ended(made, 60_000);
  finish(1);
  await vi.waitFor(() => expect(begun).toEqual([1, 2]), PATIENCE);
  expect(over).not.toHaveBeenCalled();
  finish(2);
  await vi.waitFor(() => expect(over).toHaveBeenCalled(), PATIENCE);
  expect(dropped).toEqual([]);
});

describe('the end, with a clock that stands still', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test('does not wait forever: running items are stopped, and waiting ones dropped', async () => {
    const { queue: made, begun, dropped } = queue(1, 10);
    for (const item of [1, 2, 3]) made.push(item);
    const over = ended(made, 5_000);
    await vi.advanceTimersByTimeAsync(4_999);
    expect(dropped).toEqual([]);
    expect(over).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(dropped).toEqual([2, 3]);
    expect(over).toHaveBeenCalled();
    expect(begun).toEqual([1]);
  });

  test('comes at once without items, and leaves no timer that keeps the process alive', async () => {
    const over = ended(queue(1, 1).queue, 60_000);
    await vi.advanceTimersByTimeAsync(0);
    expect(over).toHaveBeenCalled();
    expect(vi.getTimerCount()).toBe(0);
  });
});
