/** Pauses a device while it is too hot. There are two limits, so that it does not pause and resume all the time. */

import type { Telemetry } from '../engine/telemetry.ts';

export interface TemperatureLimits {
  /** At this temperature the device is paused. */
  readonly stopC: number;
  /** At this temperature, which is below `stopC`, the device resumes. */
  readonly resumeC: number;
}

const NO_LIMITS: TemperatureLimits = { stopC: Number.POSITIVE_INFINITY, resumeC: Number.POSITIVE_INFINITY };

/**
 * A paused device whose sensor goes silent would never resume. The silence is counted in ticks, so that a time in which the
 * process was suspended (Ctrl-Z) does not count.
 */
const TICK_MS = 10_000;
const SILENT_TICKS = 6;

export interface ThermalHooks {
  readonly tooHot: (why: string) => void;
  readonly cooledDown: () => void;
  /** The device is paused, and its sensors have gone silent. */
  readonly silent: (why: string) => void;
}

/** Watches the temperature of a device while it is in service. */
export class ThermalGuard {
  readonly #limits: () => TemperatureLimits | undefined;
  readonly #hooks: ThermalHooks;
  /** The sensor that counts: the first reading decides. The hotspot, which some cards report alone, is warmer than the edge. */
  #sensor: 'temperatureC' | 'hotspotC' | undefined;
  /** Runs while the device is paused. */
  #ticking: NodeJS.Timeout | undefined;
  /** How many ticks have passed since the last reading of the temperature. */
  #ticks = 0;

  /** @param limits returns the present limits; undefined when there are none */
  constructor(limits: () => TemperatureLimits | undefined, hooks: ThermalHooks) {
    this.#limits = limits;
    this.#hooks = hooks;
  }

  take(telemetry: Telemetry): void {
    this.#sensor ??= (['temperatureC', 'hotspotC'] as const).find((sensor) => telemetry[sensor] !== undefined);
    const temperatureC = this.#sensor && telemetry[this.#sensor];
    if (temperatureC === undefined) return;
    // The limits can be removed while the device is paused. Then it resumes.
    const { stopC, resumeC } = this.#limits() ?? NO_LIMITS;
    this.#ticks = 0;
    this.#ticking?.refresh();
    if (!this.#ticking && temperatureC >= stopC) {
      this.#ticking = setInterval(() => this.#tick(), TICK_MS);
      this.#hooks.tooHot(`it is at ${temperatureC} °C and rests until it is at ${resumeC} °C`);
    } else if (this.#ticking && temperatureC <= resumeC) {
      this.end();
      this.#hooks.cooledDown();
    }
  }

  /** Ends the watch. Call it when the device goes out of service. */
  end(): void {
    clearInterval(this.#ticking);
    this.#ticking = undefined;
  }

  #tick(): void {
    this.#ticks++;
    if (this.#ticks !== SILENT_TICKS) return;
    const seconds = (SILENT_TICKS * TICK_MS) / 1000;
    this.#hooks.silent(`it was paused because it was too hot, and its sensors have been silent for ${seconds} s`);
  }
}
