/** Checks that the sensors' readings are plausible. */

import type { Telemetry, TelemetryField } from '../telemetry.ts';

/** Readings before the check. */
export type Readings = { [Field in TelemetryField]?: number | undefined };

/**
 * The plausible ranges, far wider than what chips and cards reach. Drivers report 0 °C and 0 W for sensors that a device does
 * not have, and numbers with all bits set for sensors that they could not read.
 */
const BELIEVED: Readonly<Record<TelemetryField, readonly [least: number, most: number]>> = {
  temperatureCelsius: [1, 150],
  hotspotCelsius: [1, 150],
  memoryCelsius: [1, 150],
  powerWatts: [0.1, 5_000],
  powerLimitWatts: [0.1, 5_000],
  fanRatio: [0, 2],
  fanRpm: [0, 50_000],
  coreHertz: [0, 10e9],
  memoryHertz: [0, 50e9],
};

/** Drops readings that are outside their plausible range. */
export function plausible(readings: Readings): Telemetry {
  const believed = Object.entries(readings).filter(([field, value]) => {
    const [least, most] = BELIEVED[field as TelemetryField];
    return value !== undefined && value >= least && value <= most;
  });
  return Object.fromEntries(believed);
}
