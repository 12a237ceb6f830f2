/** Opens a GPU's sensors, as far as they can be read without special rights. */

import { type Clock, systemClock } from '../../../system/clock.ts';
import { openOrNone, type Sensors } from '../../sensors/sensors.ts';
import { parseBus } from './bus.ts';
import type { Card } from './card.ts';
import { openHwmon } from './hwmon.ts';
import { NVML_LIBRARY, openNvml } from './nvml.ts';

export type { Card } from './card.ts';

/** Tests replace these. */
interface SensorOptions {
  readonly clock?: Clock;
  /** Where Linux's sysfs is mounted. */
  readonly sysfs?: string;
  /** The name or path of NVIDIA's management library for the system's loader. */
  readonly nvml?: string;
}

/** Never rejects. When there are no sensors, `what` says why, and every reading is empty. */
export function openSensors(card: Card, options: SensorOptions = {}): Promise<Sensors> {
  return openOrNone(() => open(card, options));
}

async function open(
  card: Card,
  { clock = systemClock, sysfs = '/sys', nvml = NVML_LIBRARY }: SensorOptions,
): Promise<Sensors> {
  const bus = card.bus === undefined ? undefined : parseBus(card.bus);
  switch (card.vendor) {
    case 'nvidia':
      return openNvml(bus, nvml);
    case 'amd':
    case 'intel':
      return openHwmon(card.vendor, bus, sysfs, clock);
    case undefined:
      throw new Error('pickaxe can read the sensors of NVIDIA, AMD and Intel only');
  }
}
