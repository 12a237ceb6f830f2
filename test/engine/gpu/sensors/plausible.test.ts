import { expect, test } from 'vitest';
import { plausible } from '#pickaxe/engine/gpu/sensors/plausible.js';
import type { TelemetryField } from '#pickaxe/engine/telemetry.js';

/** For each field the bounds of plausible readings, and readings just outside them. */
const EDGES: readonly [TelemetryField, below: number, least: number, most: number, above: number][] = [
  ['temperatureC', 0, 1, 150, 151],
  ['hotspotC', 0, 1, 150, 151],
  ['memoryC', 0, 1, 150, 151],
  ['powerW', 0, 0.1, 5_000, 5_001],
  ['fanPercent', -1, 0, 200, 201],
  ['fanRpm', -1, 0, 50_000, 50_001],
  ['coreMHz', -1, 0, 10_000, 10_001],
  ['memoryMHz', -1, 0, 50_000, 50_001],
];

test.each(EDGES)('%s is kept within its bounds and dropped outside them', (field, below, least, most, above) => {
  for (const believed of [least, most]) expect(plausible({ [field]: believed })).toEqual({ [field]: believed });
  for (const wrong of [below, above, Number.NaN, undefined]) expect(plausible({ [field]: wrong })).toEqual({});
});

test('a wrong reading does not affect the others', () => {
  expect(plausible({ temperatureC: 61, hotspotC: 0, powerW: 300 })).toEqual({ temperatureC: 61, powerW: 300 });
});
