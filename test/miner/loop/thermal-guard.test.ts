import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { type TemperatureLimits, ThermalGuard } from '#pickaxe/miner/loop/thermal-guard.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function watch(limits: () => TemperatureLimits | undefined = () => ({ stopCelsius: 90, resumeCelsius: 80 })) {
  const said: string[] = [];
  const guard = new ThermalGuard(systemClock, limits, {
    tooHot: (why) => said.push(`too hot: ${why}`),
    cooledDown: () => said.push('cooled down'),
    sensorLost: (why) => said.push(`silent: ${why}`),
  });
  return { guard, said };
}

test('a device is paused at one limit and resumed at a lower one', () => {
  const { guard, said } = watch();
  for (const temperatureCelsius of [20, 89, 90, 95, 81, 89, 80, 89, 91]) guard.take({ temperatureCelsius });
  expect(said).toEqual([
    'too hot: its temperature is 90 °C; it resumes at 80 °C',
    'cooled down',
    'too hot: its temperature is 91 °C; it resumes at 80 °C',
  ]);
});

test('only the sensor of the first reading counts, even when a reading lacks it', () => {
  const { guard, said } = watch();
  guard.take({ powerWatts: 20 });
  guard.take({ temperatureCelsius: 70, hotspotCelsius: 95 });
  guard.take({ hotspotCelsius: 95 });
  expect(said).toEqual([]);
});

test('a card that reports only its hotspot is judged by that', () => {
  const { guard, said } = watch();
  guard.take({ hotspotCelsius: 95 });
  expect(said).toHaveLength(1);
});

test('a paused device whose sensors go silent is reported', () => {
  const { guard, said } = watch();
  guard.take({ temperatureCelsius: 90 });
  vi.advanceTimersByTime(59_000);
  guard.take({ temperatureCelsius: 85 });
  vi.advanceTimersByTime(59_000);
  guard.take({ powerWatts: 20 });
  expect(said).toHaveLength(1);
  vi.advanceTimersByTime(1_000);
  expect(said[1]).toMatch(/^silent: .* its sensors have reported nothing for 60 s$/);
  vi.advanceTimersByTime(600_000);
  expect(said).toHaveLength(2);
});

test('a device that is paused a second time has a minute again until its silence is reported', () => {
  const { guard, said } = watch();
  guard.take({ temperatureCelsius: 90 });
  vi.advanceTimersByTime(55_000);
  guard.take({ temperatureCelsius: 80 });
  guard.take({ temperatureCelsius: 90 });
  vi.advanceTimersByTime(59_999);
  expect(said.map((line) => line.split(':')[0])).toEqual(['too hot', 'cooled down', 'too hot']);
  vi.advanceTimersByTime(1);
  expect(said).toHaveLength(4);
  expect(said[3]).toMatch(/^silent/);
});

test('limits may change at any time: those at the time of a reading decide', () => {
  let limits: TemperatureLimits | undefined = { stopCelsius: 90, resumeCelsius: 80 };
  const { guard, said } = watch(() => limits);
  guard.take({ temperatureCelsius: 85 });
  limits = { stopCelsius: 84, resumeCelsius: 70 };
  guard.take({ temperatureCelsius: 85 });
  limits = { stopCelsius: 84, resumeCelsius: 83 };
  guard.take({ temperatureCelsius: 83 });
  expect(said).toEqual(['too hot: its temperature is 85 °C; it resumes at 70 °C', 'cooled down']);
});

test('a paused device resumes when the limits are removed', () => {
  let limits: TemperatureLimits | undefined = { stopCelsius: 90, resumeCelsius: 80 };
  const { guard, said } = watch(() => limits);
  guard.take({ temperatureCelsius: 95 });
  limits = undefined;
  guard.take({ temperatureCelsius: 95 });
  vi.advanceTimersByTime(600_000);
  expect(said.slice(1)).toEqual(['cooled down']);
});

test('sensors may be silent while a device is not paused, or out of service', () => {
  const { guard, said } = watch();
  guard.take({ temperatureCelsius: 70 });
  vi.advanceTimersByTime(600_000);
  guard.take({ temperatureCelsius: 90 });
  guard.end();
  vi.advanceTimersByTime(600_000);
  expect(said).toHaveLength(1);
});
