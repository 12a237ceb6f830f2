/** The interface of a device's sensors. */

import { pause } from '../../system/abort.ts';
import type { Telemetry } from '../telemetry.ts';

export interface Sensors {
  /** For people: where the readings come from, or why there are none. One line. */
  readonly what: string;
  /** Never rejects. Wait for one reading before the next: a driver that hangs answers late or never. */
  read(): Promise<Telemetry>;
}

/** How long finding the sensors may take. Behind a driver that hangs it would never end; then the device mines without them. */
const OPEN_MS = 5_000;

/** Never rejects. When there are no sensors, `what` says why, and every reading is empty. */
export async function openOrNone<S extends Sensors>(open: () => Promise<S>): Promise<S | Sensors> {
  const patience = new AbortController();
  try {
    const sensors = await Promise.race([open(), pause(OPEN_MS, patience.signal)]);
    if (!sensors) return none(`the driver did not answer within ${OPEN_MS / 1000} s`);
    return { ...sensors, read: () => sensors.read().catch(() => ({})) };
  } catch (error) {
    return none((error as Error).message);
  } finally {
    patience.abort();
  }
}

function none(why: string): Sensors {
  return { what: `no readings: ${why}`, read: async () => ({}) };
}
