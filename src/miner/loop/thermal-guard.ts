/**
 * Pauses a device that is too hot. The device resumes at a lower temperature than it pauses at, so that it does not
 * pause and resume all the time.
 */

import type { DeviceKind, Telemetry } from '../engine/device.ts';

export interface TemperatureLimits {
  readonly stopCelsius: number;
  /** Must be below `stopCelsius`. */
  readonly resumeCelsius: number;
}

/** Returns the present limits of a device, by its kind and its name; undefined when it has no limits. */
export type LimitsOf = (kind: DeviceKind, name: string) => TemperatureLimits | undefined;

const NO_LIMITS: TemperatureLimits = { stopCelsius: Number.POSITIVE_INFINITY, resumeCelsius: Number.POSITIVE_INFINITY };

/**
 * A paused device whose sensor stops reporting would never resume, so it counts as lost after SILENT_TICKS ticks
 * without a reading. The time without a reading is counted in ticks, so that time during which the process is suspended
 * (Ctrl-Z) does not count.
 */
const TICK_MS = 10_000;
const SILENT_TICKS = 6;

export interface ThermalHooks {
  readonly tooHot: (why: string) => void;
  readonly cooledDown: () => void;
  /** Called when the sensors of a paused device have reported nothing for a minute. */
  readonly sensorLost: (why: string) => void;
}

export class ThermalGuard {
  readonly #limits: () => TemperatureLimits | undefined;
  readonly #hooks: ThermalHooks;
  /**
   * The sensor that gave the first reading. No other sensor is used later, because a card's hotspot is warmer than its
   * edge.
   */
  #sensor: 'temperatureCelsius' | 'hotspotCelsius' | undefined;
  /** Counts ticks while the device is paused. */
  #ticking: NodeJS.Timeout | undefined;
  /** Number of ticks since the last reading of the temperature. */
  #ticks = 0;

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
    // Without limits, a paused device resumes at any temperature.
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

  /** Ends the counting of ticks. Must be called when the device is closed. */
  end(): void {
    clearInterval(this.#ticking);
    this.#ticking = undefined;
  }

  #tick(): void {
    this.#ticks++;
    if (this.#ticks !== SILENT_TICKS) return;
    const seconds = (SILENT_TICKS * TICK_MS) / 1000;
    this.#hooks.sensorLost(
      `it was paused because it was too hot, and its sensors have reported nothing for ${seconds} s`,
    );
  }
}
