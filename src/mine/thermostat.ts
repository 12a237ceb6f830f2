/** When a device is too hot to work, and when it has cooled down: two limits, so that it does not go on and off. */

export interface TemperatureLimits {
  /** At this temperature a device stops. */
  readonly stopC: number;
  /** At this one it goes on; below `stopC`. */
  readonly resumeC: number;
}

export class Thermostat {
  readonly stopC: number;
  readonly resumeC: number;
  #hot = false;

  constructor({ stopC, resumeC }: TemperatureLimits) {
    this.stopC = stopC;
    this.resumeC = resumeC;
  }

  /** @returns what changed with this reading; undefined when nothing did */
  judge(temperatureC: number): 'too hot' | 'cooled down' | undefined {
    if (!this.#hot && temperatureC >= this.stopC) {
      this.#hot = true;
      return 'too hot';
    }
    if (this.#hot && temperatureC <= this.resumeC) {
      this.#hot = false;
      return 'cooled down';
    }
    return undefined;
  }
}
