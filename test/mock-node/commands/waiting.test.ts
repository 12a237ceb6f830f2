import { setMaxListeners } from 'node:events';
import { expect, it } from 'vitest';
import { Waiting } from '#pickaxe/mock-node/commands/waiting.js';

it('a request for a result is answered at once when too many wait', async () => {
  const waiting = new Waiting();
  const gone = new AbortController();
  setMaxListeners(0, gone.signal);
  let result: string | undefined;
  const wait = () => waiting.for(() => result, 2 ** 31 - 1, gone.signal);
  const first = wait();
  const others = Array.from({ length: 999 }, wait);
  expect(await wait()).toBeUndefined();
  result = 'found';
  expect(await wait()).toBe('found');
  waiting.look();
  expect(await first).toBe('found');
  expect(new Set(await Promise.all(others))).toEqual(new Set(['found']));
  result = undefined;
  const again = wait();
  gone.abort();
  expect(await again).toBeUndefined();
});
