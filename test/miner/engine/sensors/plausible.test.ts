import { expect, test } from 'vitest';
import type { TelemetryField } from '#pickaxe/miner/engine/device.js';
import { plausible } from '#pickaxe/miner/engine/sensors.js';

/** For each field the bounds of plausible readings, and readings just outside them. */
const EDGES: readonly [TelemetryField, below: number, least: number, most: number, above: number][] = [
  ['temperatureCelsius', 0, 1, 150, 151],
  ['hotspotCelsius', 0, 1, 150, 151],
  ['memoryCelsius', 0, 1, 150, 151],
  ['powerWatts', 0, 0.1, 5_000, 5_001],
  ['powerLimitWatts', 0, 0.1, 5_000, 5_001],
  ['fanRatio', -0.01, 0, 2, 2.01],
  ['fanRpm', -1, 0, 50_000, 50_001],
  ['coreHertz', -1, 0, 10e9, 10e9 + 1],
  ['memoryHertz', -1, 0, 50e9, 50e9 + 1],
];

test.each(EDGES)('%s is kept within its bounds and dropped outside them', (field, below, least, most, above) => {
  for (const believed of [least, most]) expect(plausible({ [field]: believed })).toEqual({ [field]: believed });
  for (const wrong of [below, above, Number.NaN, undefined]) expect(plausible({ [field]: wrong })).toEqual({});
});

test('a wrong reading does not affect the others', () => {
  expect(plausible({ temperatureCelsius: 61, hotspotCelsius: 0, powerWatts: 300 })).toEqual({
    temperatureCelsius: 61,
    powerWatts: 300,
  });
});
