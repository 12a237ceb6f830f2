/** The door for what sensors tell. */

import type { Telemetry } from '../../telemetry.ts';

export type Field = keyof Telemetry;

/** As read, before anybody has looked at them. */
export type Readings = { [Each in Field]?: number | undefined };

/**
 * What a reading must lie in to be believed: wide of what cards reach, and only good enough. Drivers tell 0 °C and 0 W
 * of sensors that a card does not have, and all bits set of those that they could not read.
 */
const BELIEVED: Readonly<Record<Field, readonly [least: number, most: number]>> = {
  temperatureC: [1, 150],
  hotspotC: [1, 150],
  memoryC: [1, 150],
  powerW: [0.1, 5_000],
  fanPercent: [0, 200],
  fanRpm: [0, 50_000],
  coreMHz: [0, 10_000],
  memoryMHz: [0, 50_000],
};

/** Leaves out what cannot be. */
export function plausible(readings: Readings): Telemetry {
  const believed = Object.entries(readings).filter(([field, value]) => {
    const [least, most] = BELIEVED[field as Field];
    return value !== undefined && value >= least && value <= most;
  });
  return Object.fromEntries(believed);
}
