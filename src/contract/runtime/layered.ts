/** A map whose versions share their common entries. */

/** Number of layers at which a new version copies all entries, so that look-ups stay short. */
const MAX_LAYERS = 32;

export class Layered<Value> {
  readonly #below: Layered<Value> | undefined;
  readonly #layers: number;
  readonly #own = new Map<string, Value>();

  /** @param below the version to begin with. It must not change while the new version is in use */
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

  /** Absorbs the changes of a version that began with this version. */
  absorb(above: Layered<Value>): void {
    for (const [key, value] of above.#own) this.#own.set(key, value);
  }

  entries(): Map<string, Value> {
    const all = this.#below?.entries() ?? new Map<string, Value>();
    for (const [key, value] of this.#own) all.set(key, value);
    return all;
  }
}
