import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { battery } from '#pickaxe/app/composition/sidecars.js';
import { DEFAULTS } from '#pickaxe/app/config/settings.js';
import { type Power, powerReader } from '#pickaxe/rig/pauses/power.js';
import { idleMiner } from './fakes.ts';

vi.mock('#pickaxe/rig/pauses/power.js');

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const ASKED = { ...DEFAULTS, pause: { onBattery: true } };

test('devices are paused while the machine runs on battery', async () => {
  let power: Power = 'battery';
  vi.mocked(powerReader).mockReturnValue(async () => power);
  const { running, rests } = idleMiner();
  const end = await (await battery(ASKED))!(running);
  expect(rests.get('battery')).toBe('the machine runs on battery');
  power = 'mains';
  await vi.advanceTimersByTimeAsync(60_000);
  expect(rests.size).toBe(0);
  await end();
  expect(vi.getTimerCount()).toBe(0);
});

test('a system whose power supply cannot be read causes a usage error', async () => {
  vi.mocked(powerReader).mockReturnValue(undefined);
  await expect(battery(ASKED)).rejects.toMatchObject({ name: 'UsageError' });
});

test('without the setting nothing is watched', async () => {
  expect(await battery(DEFAULTS)).toBeUndefined();
});
