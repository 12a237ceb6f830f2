import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Heat, type TemperatureLimits } from '#pickaxe/mine/heat.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function watch(limits: () => TemperatureLimits | undefined = () => ({ stopC: 90, resumeC: 80 })) {
  const said: string[] = [];
  const heat = new Heat(limits, {
    tooHot: (why) => said.push(`too hot: ${why}`),
    cooledDown: () => said.push('cooled down'),
    silent: (why) => said.push(`silent: ${why}`),
  });
  return { heat, said };
}

test('two limits, so that a device does not go on and off', () => {
  const { heat, said } = watch();
  for (const temperatureC of [20, 89, 90, 95, 81, 89, 80, 89, 91]) heat.take({ temperatureC });
  expect(said).toEqual([
    'too hot: it is at 90 °C and rests until it is at 80 °C',
    'cooled down',
    'too hot: it is at 91 °C and rests until it is at 80 °C',
  ]);
});

test('the sensor of the first reading counts: one reading without it is no reading of another', () => {
  const { heat, said } = watch();
  heat.take({ powerW: 20 });
  heat.take({ temperatureC: 70, hotspotC: 95 });
  heat.take({ hotspotC: 95 });
  expect(said).toEqual([]);
});

test('a card that tells of its hottest place alone is judged by it', () => {
  const { heat, said } = watch();
  heat.take({ hotspotC: 95 });
  expect(said).toHaveLength(1);
});

test('a device at rest whose sensors fall silent is told of', () => {
  const { heat, said } = watch();
  heat.take({ temperatureC: 90 });
  vi.advanceTimersByTime(59_000);
  heat.take({ temperatureC: 85 });
  vi.advanceTimersByTime(59_000);
  heat.take({ powerW: 20 });
  expect(said).toHaveLength(1);
  vi.advanceTimersByTime(1_000);
  expect(said[1]).toMatch(/^silent: .* for 60 s its sensors have told nothing$/);
});

test('limits may change at any time: what holds at a reading decides', () => {
  let limits: TemperatureLimits | undefined = { stopC: 90, resumeC: 80 };
  const { heat, said } = watch(() => limits);
  heat.take({ temperatureC: 85 });
  limits = { stopC: 84, resumeC: 70 };
  heat.take({ temperatureC: 85 });
  limits = { stopC: 84, resumeC: 83 };
  heat.take({ temperatureC: 83 });
  expect(said).toEqual(['too hot: it is at 85 °C and rests until it is at 70 °C', 'cooled down']);
});

test('a device at rest goes on when nothing is too hot any more', () => {
  let limits: TemperatureLimits | undefined = { stopC: 90, resumeC: 80 };
  const { heat, said } = watch(() => limits);
  heat.take({ temperatureC: 95 });
  limits = undefined;
  heat.take({ temperatureC: 95 });
  vi.advanceTimersByTime(600_000);
  expect(said.slice(1)).toEqual(['cooled down']);
});

test('one that works may be silent, and so may one out of service', () => {
  const { heat, said } = watch();
  heat.take({ temperatureC: 70 });
  vi.advanceTimersByTime(600_000);
  heat.take({ temperatureC: 90 });
  heat.end();
  vi.advanceTimersByTime(600_000);
  expect(said).toHaveLength(1);
});
