/** Signs of life at fixed intervals, and with them what the sensors say. */

import type { Telemetry } from '../../telemetry.ts';
import type { Sensors } from '../sensors/sensors.ts';

/** Time between readings: chips warm up over seconds. */
const READ_MS = 2_000;

/**
 * Sends signs of life. It never reads sensors while they are being read: a driver that hangs then has only one reading to
 * answer.
 * @param beat called every `everyMs`, with the sensors' reading when there is a new one
 */
export function startPulse(everyMs: number, sensors: Sensors, beat: (telemetry: Telemetry | undefined) => void): void {
  let fresh: Telemetry | undefined;
  let reading = false;
  let readMs = Number.NEGATIVE_INFINITY;
  setInterval(() => {
    beat(fresh);
    fresh = undefined;
    // A sensor behind a driver that hangs answers late or never.
    if (reading || performance.now() - readMs < READ_MS) return;
    reading = true;
    readMs = performance.now();
    sensors.read().then((telemetry) => {
      fresh = Object.keys(telemetry).length > 0 ? telemetry : undefined;
      reading = false;
    });
  }, everyMs);
}
