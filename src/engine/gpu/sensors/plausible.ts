/** Checks that the sensors' readings are plausible. */

import type { Telemetry, TelemetryField } from '../../telemetry.ts';

/** Readings before the check. */
export type Readings = { [Field in TelemetryField]?: number | undefined };

/**
 * The plausible ranges, far wider than what cards reach. Drivers report 0 °C and 0 W for sensors that a card does not have, and
 * numbers with all bits set for sensors that they could not read.
 */
const BELIEVED: Readonly<Record<TelemetryField, readonly [least: number, most: number]>> = {
  temperatureC: [1, 150],
  hotspotC: [1, 150],
  memoryC: [1, 150],
  powerW: [0.1, 5_000],
  fanPercent: [0, 200],
  fanRpm: [0, 50_000],
  coreMHz: [0, 10_000],
  memoryMHz: [0, 50_000],
};

/** Drops readings that are outside their plausible range. */
export function plausible(readings: Readings): Telemetry {
  const believed = Object.entries(readings).filter(([field, value]) => {
    const [least, most] = BELIEVED[field as TelemetryField];
    return value !== undefined && value >= least && value <= most;
  });
  return Object.fromEntries(believed);
}
