/** Says why a measurement has no power of the CPU, where the chip tells it and the system does not let pickaxe read it. */

import type { Logger } from 'pino';
import { openCpuSensors } from '../engine/cpu/sensors/sensors.ts';
import type { DeviceKind } from '../engine/device.ts';

interface Measured {
  readonly name: string;
  readonly kind: DeviceKind;
  readonly powerWatts: number | null;
}

export async function tellHiddenPower(devices: readonly Measured[], log: Logger): Promise<void> {
  for (const { name } of devices.filter(({ kind, powerWatts }) => kind === 'cpu' && powerWatts === null)) {
    const { refused, what } = await openCpuSensors({ threads: 1 });
    if (refused !== undefined) log.warn({ tag: name }, `sensors: ${what}`);
  }
}
