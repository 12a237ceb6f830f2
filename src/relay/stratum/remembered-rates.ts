/** Remembers how fast workers were, so that their next sessions begin with the right difficulty. Pure. */

import type { Known } from './vardiff.ts';

export class RememberedRates {
  readonly #most: number;
  /** By the worker's name, the oldest first. */
  readonly #rates = new Map<string, Known>();

  constructor(most: number) {
    this.#most = most;
  }

  get(worker: string): Known | undefined {
    return this.#rates.get(worker);
  }

  put(worker: string, known: Known): void {
    this.#rates.delete(worker);
    this.#rates.set(worker, known);
    if (this.#rates.size > this.#most) this.#rates.delete(this.#rates.keys().next().value as string);
  }
}
