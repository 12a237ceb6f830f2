/** Opens a GPU's sensors, as far as they can be read without special rights. */

import { type Clock, systemClock } from '../../../system/clock.ts';
import { parseBus } from './bus.ts';
import type { Card, Sensors } from './card.ts';
import { openHwmon } from './hwmon.ts';
import { NVML_LIBRARY, openNvml } from './nvml.ts';

export type { Card, Sensors } from './card.ts';

/** Tests replace these. */
interface SensorOptions {
  readonly clock?: Clock;
  /** Where Linux's sysfs is mounted. */
  readonly sysfs?: string;
  /** The name or path of NVIDIA's management library for the system's loader. */
  readonly nvml?: string;
}

/** Never rejects. When there are no sensors, `what` says why, and every reading is empty. */
export async function openSensors(card: Card, options: SensorOptions = {}): Promise<Sensors> {
  try {
    const { what, read } = await open(card, options);
    return { what, read: () => read().catch(() => ({})) };
  } catch (error) {
    return { what: `no readings: ${(error as Error).message}`, read: async () => ({}) };
  }
}

async function open(card: Card, { clock = systemClock, sysfs = '/sys', nvml = NVML_LIBRARY }: SensorOptions) {
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
