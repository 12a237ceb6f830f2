/** Sends signs of life at fixed intervals, with the sensors' readings. */

import type { Sensors } from '../../sensors/sensors.ts';
import { READ_MS } from '../../sensors/watch.ts';
import type { Telemetry } from '../../telemetry.ts';

/**
 * Starts the pulse. It starts no reading while another one is under way, so that readings do not pile up behind a driver that
 * hangs.
 * @param beat called every `everyMs`, with the latest reading if it is new
 */
export function startPulse(everyMs: number, sensors: Sensors, beat: (telemetry: Telemetry | undefined) => void): void {
  let fresh: Telemetry | undefined;
  let reading = false;
  let readMs = Number.NEGATIVE_INFINITY;
  setInterval(() => {
    beat(fresh);
    fresh = undefined;
    if (reading || performance.now() - readMs < READ_MS) return;
    reading = true;
    readMs = performance.now();
    sensors.read().then((telemetry) => {
      fresh = Object.keys(telemetry).length > 0 ? telemetry : undefined;
      reading = false;
    });
  }, everyMs);
}
