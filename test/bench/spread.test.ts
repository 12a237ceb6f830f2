import { expect, it } from 'vitest';
import { Readings } from '#pickaxe/bench/readings.js';
import { spreadOf } from '#pickaxe/bench/spread.js';

it('a spread is of all values', () => {
  expect(spreadOf([4, 1, 7])).toEqual({ mean: 4, median: 4, min: 1, max: 7, cv: 3 / 4 });
  expect(spreadOf([1, 2, 3, 10])).toMatchObject({ mean: 4, median: 2.5 });
  expect(spreadOf([5])).toEqual({ mean: 5, median: 5, min: 5, max: 5, cv: 0 });
  expect(spreadOf([0, 0])).toMatchObject({ mean: 0, cv: 0 });
});

it('readings are the mean power and the highest temperature since they were cleared, of what was told', () => {
  const readings = new Readings();
  expect(readings.summary).toEqual({});
  readings.take({ temperatureCelsius: 90, powerWatts: 900 });
  readings.clear();
  expect(readings.summary).toEqual({});
  readings.take({ temperatureCelsius: 61 });
  expect(readings.summary).toEqual({ temperatureC: 61 });
  readings.take({ temperatureCelsius: 63, powerWatts: 100 });
  readings.take({ temperatureCelsius: 62, powerWatts: 300 });
  readings.take({ powerWatts: 0 });
  expect(readings.summary).toEqual({ temperatureC: 63, powerW: 200 });
});
