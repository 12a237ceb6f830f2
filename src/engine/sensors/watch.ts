/** Reads a device's sensors again and again. */

import type { Telemetry } from '../telemetry.ts';
import type { Sensors } from './sensors.ts';

/** Time between readings. A chip's temperature changes over seconds. */
export const READ_MS = 2_000;

/**
 * Reads at once, and then every two seconds. It starts no reading while another one is under way, so that readings do not pile
 * up behind a driver that hangs.
 * @param tell called with each reading that is not empty
 * @returns a function that ends the readings: `tell` is not called any more
 */
export function watchSensors(sensors: Sensors, tell: (telemetry: Telemetry) => void): () => void {
  let isReading = false;
  let isOver = false;
  const read = async () => {
    if (isReading) return;
    isReading = true;
    const telemetry = await sensors.read();
    isReading = false;
    if (!isOver && Object.keys(telemetry).length > 0) tell(telemetry);
  };
  const timer = setInterval(read, READ_MS);
  void read();
  return () => {
    isOver = true;
    clearInterval(timer);
  };
}
