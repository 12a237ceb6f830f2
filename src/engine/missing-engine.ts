/** An engine for a device that was asked for and is not available. Opening it fails and says why. */

import { DeviceError, type Engine } from './engine.ts';

export class MissingEngine implements Engine {
  readonly name: string;
  readonly kind = 'gpu';
  readonly #reason: string;

  constructor(name: string, reason: string) {
    this.name = name;
    this.#reason = reason;
  }

  open(): Promise<never> {
    return Promise.reject(new DeviceError('missing', this.#reason));
  }

  search(): never {
    throw new DeviceError('missing', this.#reason);
  }

  async close(): Promise<void> {}
}
