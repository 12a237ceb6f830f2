import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { activity } from '#pickaxe/app/composition/sidecars.js';
import { type Config, DEFAULTS } from '#pickaxe/app/config/settings.js';
import { findWatches } from '#pickaxe/rig/pauses/idle.js';
import { idleMiner } from './fakes.ts';

vi.mock('#pickaxe/rig/pauses/idle.js');

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const asked = (onActivity: Config['pause']['onActivity'] & {}) =>
  activity({ ...DEFAULTS, pause: { onBattery: false, onActivity } });

test('devices are paused until nobody has used the machine for the configured time', async () => {
  let idleMs = 119_999;
  vi.mocked(findWatches).mockImplementation(async (tell) => {
    tell('the other seat is not seen');
    return [{ name: 'a desk', idleMs: async () => idleMs }];
  });
  const { running, rests, said } = idleMiner();
  const end = await (await asked(120))!(running);
  expect(rests.get('activity')).toBe('somebody used the machine less than 120 s ago');
  expect(said).toContainEqual({ level: 'warn', msg: 'the other seat is not seen' });
  idleMs = 120_000;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(rests.size).toBe(0);
  idleMs = 0;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(rests.size).toBe(1);
  await end();
  expect([rests.size, vi.getTimerCount()]).toEqual([0, 0]);
});

test('a system on which nothing shows activity causes a usage error', async () => {
  vi.mocked(findWatches).mockResolvedValue([]);
  const start = (await asked(60))!;
  await expect(start(idleMiner().running)).rejects.toMatchObject({ name: 'UsageError' });
});

test('without the setting nothing is watched', async () => {
  expect([await activity(DEFAULTS), await asked('none')]).toEqual([undefined, undefined]);
});
