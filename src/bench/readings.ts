/** What a device's sensors said while it was measured. */

import type { Telemetry } from '../engine/telemetry.ts';

export interface ReadingSummary {
  /** The highest temperature of the chip; absent without a reading. */
  readonly temperatureC?: number;
  /** The mean power; absent without a reading. */
  readonly powerW?: number;
}

/** The summary as a reading of its own. */
export function asReading({ temperatureC, powerW }: ReadingSummary): Telemetry {
  return {
    ...(temperatureC !== undefined && { temperatureCelsius: temperatureC }),
    ...(powerW !== undefined && { powerWatts: powerW }),
  };
}

export class Readings {
  #temperatureC: number | undefined;
  #powerSumW = 0;
  #powers = 0;

  /** Forgets what was said before. */
  clear(): void {
    this.#temperatureC = undefined;
    this.#powerSumW = 0;
    this.#powers = 0;
  }

  take({ temperatureCelsius: temperatureC, powerWatts: powerW }: Telemetry): void {
    if (temperatureC !== undefined) this.#temperatureC = Math.max(temperatureC, this.#temperatureC ?? temperatureC);
    if (powerW === undefined || powerW <= 0) return; // some drivers report 0 when they cannot tell
    this.#powerSumW += powerW;
    this.#powers++;
  }

  get summary(): ReadingSummary {
    return {
      ...(this.#temperatureC !== undefined && { temperatureC: this.#temperatureC }),
      ...(this.#powers > 0 && { powerW: this.#powerSumW / this.#powers }),
    };
  }
}
