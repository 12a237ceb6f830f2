import { expect, it } from 'vitest';
import { spreadOf } from '#pickaxe/rig/bench/bench-result.js';
import { combine, Readings } from '#pickaxe/rig/bench/device-result.js';

it('the spread is the standard deviation as a fraction of the mean', () => {
  expect(spreadOf([4, 1, 7])).toEqual({ mean: 4, median: 4, p90: 6.4, min: 1, max: 7, spread: 3 / 4 });
  expect(spreadOf([5])).toEqual({ mean: 5, median: 5, p90: 5, min: 5, max: 5, spread: 0 });
  expect(spreadOf([0, 0])).toMatchObject({ mean: 0, spread: 0 });
});

it('the median is the middle value, or the mean of the two in the middle', () => {
  expect(spreadOf([9, 1, 2])).toMatchObject({ median: 2 });
  expect(spreadOf([10, 1, 3, 2])).toMatchObject({ mean: 4, median: 2.5 });
});

it('one of ten values is above the 90th percentile', () => {
  expect(spreadOf([11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1])).toMatchObject({ p90: 10 });
  expect(spreadOf([2, 1])).toMatchObject({ p90: 1.9 });
});

const NOTHING = {
  temperatureCelsius: null,
  powerWatts: null,
  powerLimitWatts: null,
  coreHertz: null,
  memoryHertz: null,
};

it('readings are the means, and the highest temperature, of what was reported since they were cleared', () => {
  const readings = new Readings();
  expect(readings.summary).toEqual(NOTHING);
  readings.take({ temperatureCelsius: 90, powerWatts: 900 });
  readings.clear();
  expect(readings.summary).toEqual(NOTHING);
  readings.take({ temperatureCelsius: 61 });
  expect(readings.summary).toEqual({ ...NOTHING, temperatureCelsius: 61 });
  readings.take({ temperatureCelsius: 63, powerWatts: 100, coreHertz: 1_980e6, memoryHertz: 2_600e6 });
  readings.take({
    temperatureCelsius: 62,
    powerWatts: 300,
    powerLimitWatts: 350,
    coreHertz: 1_950e6,
    memoryHertz: 2_600e6,
  });
  readings.take({ powerWatts: 0 });
  const summary = {
    temperatureCelsius: 63,
    powerWatts: 200,
    powerLimitWatts: 350,
    coreHertz: 1_965e6,
    memoryHertz: 2_600e6,
  };
  expect(readings.summary).toEqual(summary);
  const later = { ...NOTHING, temperatureCelsius: 50, powerWatts: 100 };
  expect(combine([summary, NOTHING, later])).toEqual({ ...summary, powerWatts: 150 });
});
