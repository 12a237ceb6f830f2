/**
 * Pauses a device that is too hot. The temperature at which the device resumes is lower than the temperature at which
 * it pauses. With a single temperature for both, the device would pause and resume all the time.
 */

import type { Clock, Timer } from '../../base/system/clock.ts';
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
 * If the sensor of a paused device stops reporting, the device would never resume. So the device counts as lost after
 * `SILENT_TICKS` ticks without a reading. Ticks of a timer are counted, because time during which the process is
 * suspended (Ctrl-Z) must not count.
 */
const TICK_MS = 10_000;
const SILENT_TICKS = 6;

export interface ThermalHooks {
  readonly tooHot: (why: string) => void;
  readonly cooledDown: () => void;
  /** Called when the sensor of a device that is too hot has reported no temperature for a minute. */
  readonly sensorLost: (why: string) => void;
}

export class ThermalGuard {
  readonly #clock: Clock;
  readonly #limits: () => TemperatureLimits | undefined;
  readonly #hooks: ThermalHooks;
  /**
   * The sensor that gave the first reading. Only this sensor is used later: a card's hotspot is warmer than its edge,
   * so a mixture of both would be misleading.
   */
  #sensor: 'temperatureCelsius' | 'hotspotCelsius' | undefined;
  /** The timer of the ticks. It runs while the device is too hot. */
  #ticking: Timer | undefined;
  /** Number of ticks since the last reading of the temperature. */
  #ticks = 0;

  constructor(clock: Clock, limits: () => TemperatureLimits | undefined, hooks: ThermalHooks) {
    this.#clock = clock;
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
    if (this.#ticking) this.#startTicking();
    if (!this.#ticking && temperatureCelsius >= stopCelsius) {
      this.#startTicking();
      this.#hooks.tooHot(`its temperature is ${temperatureCelsius} °C; it resumes at ${resumeCelsius} °C`);
    } else if (this.#ticking && temperatureCelsius <= resumeCelsius) {
      this.end();
      this.#hooks.cooledDown();
    }
  }

  /** Ends the counting of ticks. Must be called when the device is closed. */
  end(): void {
    this.#ticking?.cancel();
    this.#ticking = undefined;
  }

  #startTicking(): void {
    this.#ticking?.cancel();
    this.#ticking = this.#clock.setInterval(() => this.#tick(), TICK_MS);
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
