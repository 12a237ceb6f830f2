/** The tests that the readings of every engine with sensors must pass. */

import { expect, test, vi } from 'vitest';
import { TELEMETRY_FIELDS, type Telemetry } from '#pickaxe/miner/engine/device.js';
import type { Engine } from '#pickaxe/miner/engine/engine.js';
import { plausible } from '#pickaxe/miner/engine/sensors.js';

/**
 * @param makeEngine makes an engine whose device has a temperature of 61 °C, and other readings that are plausible or
 *   not
 */
export function telemetryContract(name: string, makeEngine: () => Engine): void {
  test(`${name} tells its readings while it is open, and none afterwards`, async () => {
    const engine = makeEngine();
    const openings: Telemetry[][] = [];
    for (let opening = 0; opening < 2; opening++) {
      const told: Telemetry[] = [];
      openings.push(told);
      await engine.open({ telemetry: (telemetry) => void told.push(telemetry) });
      const before = openings[0].length;
      await vi.waitFor(() => expect(told.length).toBeGreaterThan(0), { timeout: 60_000 });
      if (opening > 0) expect(openings[0]).toHaveLength(before); // the first listener gets nothing of the second opening
      await engine.close();
    }
    for (const telemetry of openings.flat()) {
      expect(TELEMETRY_FIELDS).toEqual(expect.arrayContaining(Object.keys(telemetry)));
      expect(plausible(telemetry)).toEqual(telemetry);
      expect(telemetry.temperatureCelsius).toBe(61);
    }
  });

  test(`${name} works without a listener, and without anybody who wants the readings`, async () => {
    const engine = makeEngine();
    for (const listener of [undefined, {}]) {
      await engine.open(listener);
      await engine.close();
    }
  });
}
