/** Pauses a device while it is too hot. There are two limits, so that it does not pause and resume all the time. */

import type { DeviceKind, Telemetry } from '../engine/device.ts';

export interface TemperatureLimits {
  /** At this temperature the device is paused. */
  readonly stopCelsius: number;
  /** At this temperature, which is below `stopCelsius`, the device resumes. */
  readonly resumeCelsius: number;
}

/** Returns the present limits of a device, by its kind and its name; undefined when there are none. */
export type LimitsOf = (kind: DeviceKind, name: string) => TemperatureLimits | undefined;

const NO_LIMITS: TemperatureLimits = { stopCelsius: Number.POSITIVE_INFINITY, resumeCelsius: Number.POSITIVE_INFINITY };

/**
 * A paused device whose sensor goes silent would never resume. The silence is counted in ticks, so that a time in which
 * the process was suspended (Ctrl-Z) does not count.
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
  /**
   * The sensor that counts: the first reading decides. The hotspot, which some cards report alone, is warmer than the
   * edge.
   */
  #sensor: 'temperatureCelsius' | 'hotspotCelsius' | undefined;
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
    this.#sensor ??= (['temperatureCelsius', 'hotspotCelsius'] as const).find(
      (sensor) => telemetry[sensor] !== undefined,
    );
    const temperatureCelsius = this.#sensor && telemetry[this.#sensor];
    if (temperatureCelsius === undefined) return;
    // The limits can be removed while the device is paused. Then it resumes.
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

  /** Ends the watch. Call it when the device goes out of service. */
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
