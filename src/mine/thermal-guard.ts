/** Pauses a device while it is too hot. It has two limits, so that the device does not go on and off. */

import type { Telemetry } from '../engine/telemetry.ts';

export interface TemperatureLimits {
  /** At this temperature the device is paused. */
  readonly stopC: number;
  /** At this temperature it goes on; it is below `stopC`. */
  readonly resumeC: number;
}

const NO_LIMITS: TemperatureLimits = { stopC: Number.POSITIVE_INFINITY, resumeC: Number.POSITIVE_INFINITY };

/** A paused device whose sensor goes silent would never resume. Counted in ticks, so time suspended by Ctrl-Z doesn't count. */
const TICK_MS = 10_000;
const SILENT_TICKS = 6;

export interface ThermalHooks {
  readonly tooHot: (why: string) => void;
  readonly cooledDown: () => void;
  /** The device is paused, and its sensors have gone silent. */
  readonly silent: (why: string) => void;
}

/** Watches a device for one time in service. */
export class ThermalGuard {
  readonly #limits: () => TemperatureLimits | undefined;
  readonly #hooks: ThermalHooks;
  /** Some cards report their edge, some their hotspot, which is warmer: the first reading settles which one counts. */
  #sensor: 'temperatureC' | 'hotspotC' | undefined;
  /** Runs while the device is paused. */
  #ticking: NodeJS.Timeout | undefined;
  /** Ticks since the last temperature was read. */
  #ticks = 0;

  /** @param limits the limits at the moment; undefined while there are none */
  constructor(limits: () => TemperatureLimits | undefined, hooks: ThermalHooks) {
    this.#limits = limits;
    this.#hooks = hooks;
  }

  take(telemetry: Telemetry): void {
    this.#sensor ??= (['temperatureC', 'hotspotC'] as const).find((sensor) => telemetry[sensor] !== undefined);
    const temperatureC = this.#sensor && telemetry[this.#sensor];
    if (temperatureC === undefined) return;
    // Limits can be taken away while a device is paused: then it goes on.
    const { stopC, resumeC } = this.#limits() ?? NO_LIMITS;
    this.#ticks = 0;
    this.#ticking?.refresh();
    if (!this.#ticking && temperatureC >= stopC) {
      this.#ticking = setInterval(() => this.#tick(), TICK_MS);
      this.#hooks.tooHot(`its temperature is ${temperatureC} °C; it resumes at ${resumeC} °C`);
    } else if (this.#ticking && temperatureC <= resumeC) {
      this.end();
      this.#hooks.cooledDown();
    }
  }

  /** Ends the watch with the device's time in service. */
  end(): void {
    clearInterval(this.#ticking);
    this.#ticking = undefined;
  }

  #tick(): void {
    this.#ticks++;
    if (this.#ticks !== SILENT_TICKS) return;
    const seconds = (SILENT_TICKS * TICK_MS) / 1000;
    this.#hooks.silent(`it was paused because it was too hot, and its sensors have reported nothing for ${seconds} s`);
  }
}
