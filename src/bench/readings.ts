/** What a device's sensors reported while it was measured. */

import type { Telemetry } from '../engine/telemetry.ts';
import type { SensorSummary } from './result.ts';
import { meanOf, roundTo } from './spread.ts';

export class Readings {
  readonly #summaries: SensorSummary[] = [];

  /** Forgets earlier readings. */
  clear(): void {
    this.#summaries.length = 0;
  }

  take({ temperatureCelsius, powerWatts, powerLimitWatts, coreHertz, memoryHertz }: Telemetry): void {
    this.#summaries.push({
      temperatureCelsius: temperatureCelsius ?? null,
      powerWatts: powerWatts || null, // some drivers report 0 when they cannot tell
      powerLimitWatts: powerLimitWatts ?? null,
      coreHertz: coreHertz ?? null,
      memoryHertz: memoryHertz ?? null,
    });
  }

  get summary(): SensorSummary {
    return combine(this.#summaries);
  }
}

/** Combines several summaries: the highest temperature, and the means of everything else. */
export function combine(summaries: readonly SensorSummary[]): SensorSummary {
  const known = (field: keyof SensorSummary) => summaries.flatMap((each) => each[field] ?? []);
  const mean = (field: keyof SensorSummary) => {
    const values = known(field);
    return values.length > 0 ? roundTo(meanOf(values), 2) : null;
  };
  const temperatures = known('temperatureCelsius');
  return {
    temperatureCelsius: temperatures.length > 0 ? Math.max(...temperatures) : null,
    powerWatts: mean('powerWatts'),
    powerLimitWatts: mean('powerLimitWatts'),
    coreHertz: mean('coreHertz'),
    memoryHertz: mean('memoryHertz'),
  };
}

/** @returns the efficiency in H/J; null where the power is not known */
export function perJoule(hashesPerSecond: number, { powerWatts }: SensorSummary): number | null {
  return powerWatts === null ? null : Math.round(hashesPerSecond / powerWatts);
}
