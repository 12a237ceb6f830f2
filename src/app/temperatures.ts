/** Reads from the settings the temperatures at which devices are paused and resumed. */

import type { Config } from '../config/settings.ts';
import type { DeviceKind } from '../engine/device.ts';
import type { TemperatureLimits } from '../mine/thermal-guard.ts';

/** The default distance between the two temperatures: enough that a device does not pause and resume all the time. */
const COOL_BY_C = 10;

/** @returns undefined when no device of this kind is paused for its temperature */
export function limitsOf(devices: Config['devices'], kind: DeviceKind): TemperatureLimits | undefined {
  const { tempLimit, tempResume, cpuTempLimit, cpuTempResume } = devices;
  const [stopCelsius, resumeCelsius] = kind === 'cpu' ? [cpuTempLimit, cpuTempResume] : [tempLimit, tempResume];
  return stopCelsius === 'none' ? undefined : { stopCelsius, resumeCelsius: resumeCelsius ?? stopCelsius - COOL_BY_C };
}
