/**
 * Remembers how fast workers were, so that their next sessions begin with the right difficulty. Nobody knows who uses a name, so what
 * is remembered counts only for clients of the address from which it came. Pure.
 */

import { networkOf } from './bans.ts';
import type { Known } from './vardiff.ts';

export class RememberedRates {
  readonly #most: number;
  /** By the client's network and the worker's name, the oldest first. */
  readonly #rates = new Map<string, Known>();

  constructor(most: number) {
    this.#most = most;
  }

  get(address: string, worker: string): Known | undefined {
    return this.#rates.get(keyOf(address, worker));
  }

  put(address: string, worker: string, known: Known): void {
    const key = keyOf(address, worker);
    this.#rates.delete(key);
    this.#rates.set(key, known);
    if (this.#rates.size > this.#most) this.#rates.delete(this.#rates.keys().next().value as string);
  }
}

/** A network has no blanks, so no two pairs have the same key. */
function keyOf(address: string, worker: string): string {
  return `${networkOf(address)} ${worker}`;
}
