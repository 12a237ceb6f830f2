/** A GPU's own sensors, as far as the system tells of them without special rights. */

import { type Clock, systemClock } from '../../../clock.ts';
import type { Telemetry } from '../../../telemetry.ts';
import { parseBus } from './bus.ts';
import type { Card, Sensors } from './card.ts';
import { openHwmon } from './hwmon.ts';
import { NVML_LIBRARY, openNvml } from './nvml.ts';

export type { Card, Sensors } from './card.ts';

/** Seams for tests. */
export interface SensorOptions {
  readonly clock?: Clock;
  /** Where Linux's sysfs is mounted. */
  readonly sysfs?: string;
  /** NVIDIA's management library, as the system's loader finds it. */
  readonly nvml?: string;
}

/** Never rejects: where there are no sensors, `what` says why, and every reading is empty. */
export async function openSensors(card: Card, options: SensorOptions = {}): Promise<Sensors> {
  try {
    return oneAtATime(await open(card, options));
  } catch (error) {
    return { what: `no readings: ${(error as Error).message}`, read: async () => ({}), close: () => {} };
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
      throw new Error('pickaxe knows the sensors of NVIDIA, AMD and Intel alone');
  }
}

/** A driver that is slow, or hangs, has one reading to answer and no more. */
function oneAtATime(sensors: Sensors): Sensors {
  let reading: Promise<Telemetry> | undefined;
  let closed = false;
  return {
    what: sensors.what,
    async read() {
      if (closed) return {};
      reading ??= sensors
        .read()
        .catch(() => ({}))
        .finally(() => {
          reading = undefined;
        });
      return reading;
    },
    close() {
      if (closed) return;
      closed = true;
      if (reading) void reading.then(() => sensors.close());
      else sensors.close();
    },
  };
}
