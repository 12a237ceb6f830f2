/** From settings to the temperatures between which devices rest. */

import type { Config } from '../config/settings.ts';
import type { TemperatureLimits } from '../mine/thermal-guard.ts';

/** Between the two, unless told otherwise: enough that a device does not go on and off all the time. */
const COOL_BY_C = 10;

/** @returns undefined where no device is to rest */
export function limitsOf({ tempLimit: stopCelsius, tempResume }: Config['devices']): TemperatureLimits | undefined {
  return stopCelsius === 'none' ? undefined : { stopCelsius, resumeCelsius: tempResume ?? stopCelsius - COOL_BY_C };
}
