/** A map with versions. A version stores its own changes, and shares all other entries with the version below it. */

/** Maximum number of layers. A version above this many layers copies all entries, so that look-ups stay short. */
const MAX_LAYERS = 32;

export class Layered<Value> {
  readonly #below: Layered<Value> | undefined;
  /** Number of versions in which a look-up searches: this one and those below it. */
  readonly #layers: number;
  /** The entries that this version has changed or copied. */
  readonly #own = new Map<string, Value>();

  /** @param below the version to begin with. While the new version is used, `below` must not change */
  constructor(below?: Layered<Value>) {
    const copies = below !== undefined && below.#layers >= MAX_LAYERS;
    this.#below = copies ? undefined : below;
    this.#layers = copies || below === undefined ? 1 : below.#layers + 1;
    if (copies) for (const [key, value] of below.entries()) this.#own.set(key, value);
  }

  get(key: string): Value | undefined {
    for (let it: Layered<Value> | undefined = this; it; it = it.#below) {
      const value = it.#own.get(key);
      if (value !== undefined) return value;
    }
    return undefined;
  }

  set(key: string, value: Value): void {
    this.#own.set(key, value);
  }

  /** Copies the changes of a version above this one into this version. */
  absorb(above: Layered<Value>): void {
    for (const [key, value] of above.#own) this.#own.set(key, value);
  }

  /** @returns a new map with the entries of this version and of the versions below it */
  entries(): Map<string, Value> {
    const all = this.#below?.entries() ?? new Map<string, Value>();
    for (const [key, value] of this.#own) all.set(key, value);
    return all;
  }
}
