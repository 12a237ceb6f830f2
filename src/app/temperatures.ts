/** Reads from the settings the temperatures at which devices are paused and resumed. */

import type { Config } from '../config/settings.ts';
import type { TemperatureLimits } from '../mine/thermal-guard.ts';

/** The default distance between the two temperatures: enough that a device does not pause and resume all the time. */
const COOL_BY_C = 10;

/** @returns undefined when no device is paused for its temperature */
export function limitsOf({ tempLimit: stopCelsius, tempResume }: Config['devices']): TemperatureLimits | undefined {
  return stopCelsius === 'none' ? undefined : { stopCelsius, resumeCelsius: tempResume ?? stopCelsius - COOL_BY_C };
}
