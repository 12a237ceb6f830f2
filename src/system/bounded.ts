/** Collections that forget their oldest entries, so that what others send cannot fill the memory. Pure. */

/** A map that keeps its newest entries. To set a key again makes its entry the newest. */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #most: number;

  /** @param most how many entries are kept */
  constructor(most: number) {
    super();
    this.#most = most;
  }

  override set(key: Key, value: Value): this {
    this.delete(key);
    super.set(key, value);
    if (this.size > this.#most) this.delete(this.keys().next().value as Key);
    return this;
  }
}

/** A set that keeps its newest members. To add one again makes it the newest. */
export class BoundedSet<Member> extends Set<Member> {
  readonly #most: number;

  /** @param most how many members are kept */
  constructor(most: number) {
    super();
    this.#most = most;
  }

  override add(member: Member): this {
    this.delete(member);
    super.add(member);
    if (this.size > this.#most) this.delete(this.values().next().value as Member);
    return this;
  }
}
