/** Has a device rest while it is too hot. Two limits, so that it does not go on and off. */

import type { Telemetry } from '../engine/telemetry.ts';

export interface TemperatureLimits {
  /** At this temperature a device rests. */
  readonly stopC: number;
  /** At this one it goes on; below `stopC`. */
  readonly resumeC: number;
}

const NO_LIMITS: TemperatureLimits = { stopC: Number.POSITIVE_INFINITY, resumeC: Number.POSITIVE_INFINITY };

/**
 * A device at rest of whose temperature nothing is heard for this long would rest for ever. Counted in looks: while the
 * whole process is stopped (Ctrl-Z), nobody is silent.
 */
const LOOK_MS = 10_000;
const SILENT_LOOKS = 6;

export interface HeatHooks {
  readonly tooHot: (why: string) => void;
  readonly cooledDown: () => void;
  /** It rests, and its sensors have fallen silent. */
  readonly silent: (why: string) => void;
}

/** Watches a device during one time in service. */
export class Heat {
  readonly #limits: () => TemperatureLimits | undefined;
  readonly #hooks: HeatHooks;
  /** Cards tell of their edge, or of their hottest place, which is warmer: the first reading settles which one counts. */
  #sensor: 'temperatureC' | 'hotspotC' | undefined;
  /** Runs while the device rests. */
  #looking: NodeJS.Timeout | undefined;
  /** Looks since its temperature was last heard of. */
  #looks = 0;

  /** @param limits what holds now; undefined while no device is to rest */
  constructor(limits: () => TemperatureLimits | undefined, hooks: HeatHooks) {
    this.#limits = limits;
    this.#hooks = hooks;
  }

  take(telemetry: Telemetry): void {
    this.#sensor ??= (['temperatureC', 'hotspotC'] as const).find((sensor) => telemetry[sensor] !== undefined);
    const temperatureC = this.#sensor && telemetry[this.#sensor];
    if (temperatureC === undefined) return;
    // Limits can change while a device rests: without any it goes on.
    const { stopC, resumeC } = this.#limits() ?? NO_LIMITS;
    this.#looks = 0;
    this.#looking?.refresh();
    if (!this.#looking && temperatureC >= stopC) {
      this.#looking = setInterval(() => this.#look(), LOOK_MS);
      this.#hooks.tooHot(`it is at ${temperatureC} °C and rests until it is at ${resumeC} °C`);
    } else if (this.#looking && temperatureC <= resumeC) {
      this.end();
      this.#hooks.cooledDown();
    }
  }

  /** The time in service is over. */
  end(): void {
    clearInterval(this.#looking);
    this.#looking = undefined;
  }

  #look(): void {
    this.#looks++;
    if (this.#looks !== SILENT_LOOKS) return;
    const seconds = (SILENT_LOOKS * LOOK_MS) / 1000;
    this.#hooks.silent(`it rests since it was too hot, and for ${seconds} s its sensors have told nothing`);
  }
}
