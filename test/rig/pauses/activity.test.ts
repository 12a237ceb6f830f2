import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { pauseWhileUsed } from '#pickaxe/rig/pauses/pauses.js';
import { guarded } from './fakes.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Watches that have been idle for numbers of seconds that the test sets. */
async function watch(idle: Record<string, number | undefined>) {
  const given = guarded();
  const watches = Object.keys(idle).map((name) => ({
    name,
    idleMs: async () => {
      const seconds = idle[name];
      return seconds === undefined ? undefined : seconds * 1000;
    },
  }));
  const end = await pauseWhileUsed(watches, 60_000, given);
  const look = () => vi.advanceTimersByTimeAsync(5_000);
  return { ...given, look, end };
}

test('devices are paused while somebody has used anything recently', async () => {
  const idle: Record<string, number | undefined> = { terminals: 59, desktop: 4_000 };
  const { rests, said, look, end } = await watch(idle);
  expect(rests.get('activity')).toContain('somebody used the machine');
  expect(said[0].msg).toContain('watching terminals; desktop');
  idle.terminals = 60;
  await look();
  expect(rests.size).toBe(0);
  idle.desktop = 0;
  await look();
  expect(rests.size).toBe(1);
  idle.desktop = 61;
  await look();
  expect(rests.size).toBe(0);
  end();
  idle.desktop = 0;
  await look();
  expect(rests.size).toBe(0);
});

test('while nothing is known everything stays as it is, and a watch that stops answering is logged once', async () => {
  const idle: Record<string, number | undefined> = { desktop: undefined, terminals: undefined };
  const { rests, said, look } = await watch(idle);
  const warnings = () => said.filter(({ level }) => level === 'warn').map(({ msg }) => msg);
  await look();
  expect([rests.size, warnings()]).toEqual([0, []]);
  idle.desktop = 1;
  await look();
  expect(rests.size).toBe(1);
  idle.desktop = undefined;
  for (let looks = 0; looks < 3; looks++) await look();
  expect(rests.size).toBe(1);
  expect(warnings()).toEqual(['desktop: activity can no longer be seen']);
  idle.terminals = 1_000;
  await look();
  expect(rests.size).toBe(0);
});

test('a watch that hangs is not asked again until it answers', async () => {
  const given = guarded();
  let asked = 0;
  let answer: (idleMs: number) => void = () => {};
  const hanging = {
    name: 'slow',
    idleMs: () => {
      asked++;
      return new Promise<number>((resolve) => {
        answer = resolve;
      });
    },
  };
  const started = pauseWhileUsed([hanging], 60_000, given);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(asked).toBe(1);
  answer(0);
  const end = await started;
  expect(given.rests.size).toBe(1);
  await vi.advanceTimersByTimeAsync(5_000);
  end();
  answer(0); // This answers a question from before the end.
  await vi.advanceTimersByTimeAsync(60_000);
  expect([given.rests.size, asked]).toEqual([0, 2]);
});
