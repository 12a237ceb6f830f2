/** What a device's sensors said while it was measured. */

import type { Telemetry } from '../engine/telemetry.ts';

/** What was not told is left out. */
export interface ReadingSummary {
  /** The highest, of the chip. */
  readonly temperatureC?: number;
  /** The mean. */
  readonly powerW?: number;
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

  take({ temperatureC, powerW }: Telemetry): void {
    if (temperatureC !== undefined) this.#temperatureC = Math.max(temperatureC, this.#temperatureC ?? temperatureC);
    if (powerW === undefined || powerW <= 0) return; // a reading of nothing is none
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
