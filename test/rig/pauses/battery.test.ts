import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { pauseOnBattery } from '#pickaxe/rig/pauses/pauses.js';
import type { Power } from '#pickaxe/rig/pauses/power.js';
import { guarded } from './fakes.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

async function watch(first: Power | Error) {
  const given = guarded();
  let answer = first;
  const read = async () => {
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const end = await pauseOnBattery(read, given);
  const next = async (then: Power | Error) => {
    answer = then;
    await vi.advanceTimersByTimeAsync(10_000);
  };
  return { ...given, next, end };
}

test('devices are paused on battery, even at the start, and resume on mains', async () => {
  const { rests, next, end } = await watch('battery');
  expect(rests.get('battery')).toBe('the machine runs on battery');
  await next('mains');
  expect(rests.size).toBe(0);
  await next('battery');
  expect(rests.size).toBe(1);
  end();
  expect(rests.size).toBe(0);
  await next('mains');
  await next('battery');
  expect(rests.size).toBe(0);
});

test('a power supply that cannot be read is logged once, and changes nothing', async () => {
  const { rests, said, next } = await watch('battery');
  await next(new Error('the battery is shy'));
  await next(new Error('the battery is shy'));
  expect(rests.size).toBe(1);
  expect(said.map(({ level, msg }) => `${level} ${msg}`)).toEqual([
    'warn cannot tell whether this machine runs on battery: the battery is shy',
  ]);
  await next('mains');
  expect(rests.size).toBe(0);
  await next(new Error('again'));
  expect(said).toHaveLength(2);
});

test('a machine without a battery is never paused, and this is logged once', async () => {
  const { rests, said, next } = await watch('no battery');
  await next('no battery');
  expect(rests.size).toBe(0);
  expect(said.map(({ msg }) => msg)).toEqual(['this machine has no battery']);
});
