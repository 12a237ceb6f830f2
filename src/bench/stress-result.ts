/** What a device did under stress, as `pickaxe bench --stress --json` prints it. */

import type { DeviceError } from '../engine/engine.ts';
import { identityOf } from './identity.ts';
import { perJoule } from './readings.ts';
import type { StressDevice } from './result.ts';
import type { StressStats } from './stress-stats.ts';

/** @param fault why the device did not work to the end */
export function stressDevice(stats: StressStats, fault: DeviceError | undefined): StressDevice {
  const { engine, info, hashrate, sensors, rounds, verified: found, wrong, missed, errors, samples } = stats;
  return {
    ...identityOf(engine, info),
    hashesPerSecond: hashrate.mean,
    spread: hashrate.spread,
    ...sensors,
    hashesPerJoule: perJoule(hashrate.mean, sensors),
    rounds,
    candidates: { found, wrong, missed },
    errors: [...errors, ...(fault ? [`it failed: ${fault.message}`] : [])],
    samples,
  };
}
