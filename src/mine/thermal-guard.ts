/** Pauses a device while it is too hot. It has two limits, so that the device does not go on and off. */

import type { Telemetry } from '../engine/telemetry.ts';

export interface TemperatureLimits {
  /** At this temperature the device is paused. */
  readonly stopCelsius: number;
  /** At this temperature it goes on; it is below `stopCelsius`. */
  readonly resumeCelsius: number;
}

const NO_LIMITS: TemperatureLimits = { stopCelsius: Number.POSITIVE_INFINITY, resumeCelsius: Number.POSITIVE_INFINITY };

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
  #sensor: 'temperatureCelsius' | 'hotspotCelsius' | undefined;
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
    this.#sensor ??= (['temperatureCelsius', 'hotspotCelsius'] as const).find(
      (sensor) => telemetry[sensor] !== undefined,
    );
    const temperatureCelsius = this.#sensor && telemetry[this.#sensor];
    if (temperatureCelsius === undefined) return;
    // Limits can be taken away while a device is paused: then it goes on.
    const { stopCelsius, resumeCelsius } = this.#limits() ?? NO_LIMITS;
    this.#ticks = 0;
    this.#ticking?.refresh();
    if (!this.#ticking && temperatureCelsius >= stopCelsius) {
      this.#ticking = setInterval(() => this.#tick(), TICK_MS);
      this.#hooks.tooHot(`its temperature is ${temperatureCelsius} °C; it resumes at ${resumeCelsius} °C`);
    } else if (this.#ticking && temperatureCelsius <= resumeCelsius) {
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
