/** Reads from the settings the temperatures at which devices are paused and resumed. */

import { valueForGpu } from '../config/setting-types/per-gpu.ts';
import type { Config } from '../config/settings.ts';
import type { DeviceKind } from '../engine/device.ts';
import type { TemperatureLimits } from '../mine/thermal-guard.ts';

/** The default distance between the two temperatures: enough that a device does not pause and resume all the time. */
const COOL_BY_C = 10;

/**
 * @param name the device; without it, what holds for each device of this kind that no setting names
 * @returns undefined when it is not paused for its temperature
 */
export function limitsOf(devices: Config['devices'], kind: DeviceKind, name?: string): TemperatureLimits | undefined {
  const { cpuTempLimit, cpuTempResume } = devices;
  const [stopCelsius = 'none', resumeCelsius] =
    kind === 'cpu'
      ? [cpuTempLimit, cpuTempResume]
      : [valueForGpu(devices.tempLimit, name), valueForGpu(devices.tempResume, name)];
  return stopCelsius === 'none' ? undefined : { stopCelsius, resumeCelsius: resumeCelsius ?? stopCelsius - COOL_BY_C };
}
