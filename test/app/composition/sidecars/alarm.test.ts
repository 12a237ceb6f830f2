import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { alarm } from '#pickaxe/app/composition/sidecars.js';
import { DEFAULTS } from '#pickaxe/app/config/settings.js';
import { device, hashes } from '../../../rig/status/fakes.ts';
import { idleMiner } from './fakes.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('an alarm is raised for the rig and for a device when their hashrates stay below their limits', async () => {
  const { running, recorded } = idleMiner();
  const { events } = running;
  const start = await alarm({
    ...DEFAULTS,
    alarm: { minHashrate: [{ limit: 1_000 }, { device: 'gpu0', limit: 500 }], after: 300 },
  });
  const [setInterval, clearInterval] = [vi.spyOn(globalThis, 'setInterval'), vi.spyOn(globalThis, 'clearInterval')];
  const starting = start!(running);
  const timers = setInterval.mock.results.map(({ value }) => value);
  expect(timers).toHaveLength(1);
  const end = await starting;
  events.emit({ type: 'source', source: 'a node', kind: 'node', state: 'connected', reason: '' });
  events.emit({ type: 'work', chain: 1, height: 2n, difficulty: 1e9 });
  for (const name of ['cpu', 'gpu0']) events.emit(device(name, 'ready'));
  /** Makes each device hash at the given rate. */
  const run = (seconds: number, cpu: number, gpu0: number) => {
    for (let second = 0; second < seconds; second++) {
      vi.advanceTimersByTime(1_000);
      events.emit(hashes('cpu', cpu));
      events.emit(hashes('gpu0', gpu0));
    }
  };
  const alarms = () => recorded.of('alarm').map((alarm) => [alarm.state, alarm.device, alarm.limitHashesPerSecond]);
  run(299, 900, 400);
  expect(alarms()).toEqual([]);
  run(60, 900, 400);
  expect(alarms()).toEqual([['raised', 'gpu0', 500]]);
  run(360, 300, 600);
  expect(alarms().slice(1)).toEqual([
    ['cleared', 'gpu0', 500],
    ['raised', undefined, 1_000],
  ]);
  // The timers are not counted, because another file of this process may leave some.
  expect(clearInterval.mock.calls).not.toContainEqual(timers);
  await end();
  expect(clearInterval.mock.calls).toContainEqual(timers);
  vi.restoreAllMocks();
});

test('without a limit there is no alarm', async () => {
  expect(await alarm(DEFAULTS)).toBeUndefined();
});
