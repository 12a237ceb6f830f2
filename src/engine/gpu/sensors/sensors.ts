/** A GPU's own sensors, as far as the system tells of them without special rights. */

import { type Clock, systemClock } from '../../../system/clock.ts';
import { parseBus } from './bus.ts';
import type { Card, Sensors } from './card.ts';
import { openHwmon } from './hwmon.ts';
import { NVML_LIBRARY, openNvml } from './nvml.ts';

export type { Card, Sensors } from './card.ts';

/** Seams for tests. */
interface SensorOptions {
  readonly clock?: Clock;
  /** Where Linux's sysfs is mounted. */
  readonly sysfs?: string;
  /** NVIDIA's management library, as the system's loader finds it. */
  readonly nvml?: string;
}

/** Never rejects: where there are no sensors, `what` says why, and every reading is empty. */
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
