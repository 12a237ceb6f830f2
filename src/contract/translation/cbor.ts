/** Writes CBOR (RFC 8949) as dialect 5 does: whole numbers and lengths in as few bytes as possible. */

const WORD = 2n ** 64n;
const TEXT = new TextEncoder();

/** The kinds of items, as the first three bits of their first bytes say them. */
const [POSITIVE, NEGATIVE, BYTES, TEXTS, ARRAY, MAP, TAG] = [0, 1, 2, 3, 4, 5, 6];
const FALSE = 0xf4;
const TRUE = 0xf5;
const NULL = 0xf6;
const OPEN_ARRAY = 0x9f;
const BREAK = 0xff;
const [BIG_POSITIVE, BIG_NEGATIVE] = [2, 3];

export class CborWriter {
  #bytes = new Uint8Array(4096);
  #length = 0;

  /** @returns what was written */
  bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  integer(value: bigint | number): void {
    const integer = BigInt(value);
    const isNegative = integer < 0n;
    const magnitude = isNegative ? -1n - integer : integer;
    if (magnitude < WORD) {
      this.#head(isNegative ? NEGATIVE : POSITIVE, magnitude);
      return;
    }
    this.#head(TAG, isNegative ? BIG_NEGATIVE : BIG_POSITIVE);
    const digits = magnitude.toString(16);
    this.binary(Buffer.from(digits.padStart(digits.length + (digits.length % 2), '0'), 'hex'));
  }

  text(text: string): void {
    const bytes = TEXT.encode(text);
    this.#head(TEXTS, bytes.length);
    this.#append(bytes);
  }

  binary(bytes: Uint8Array): void {
    this.#head(BYTES, bytes.length);
    this.#append(bytes);
  }

  boolean(value: boolean): void {
    this.#append([value ? TRUE : FALSE]);
  }

  null(): void {
    this.#append([NULL]);
  }

  /** Begins an array of this many items, which must follow. */
  array(length: number): void {
    this.#head(ARRAY, length);
  }

  /** Writes a list, whose length dialect 5 does not write unless it is empty. */
  list<T>(items: readonly T[], write: (item: T) => void): void {
    if (items.length === 0) {
      this.array(0);
      return;
    }
    this.#append([OPEN_ARRAY]);
    for (const item of items) write(item);
    this.#append([BREAK]);
  }

  /** Writes the items of a set or a vector, with their number. */
  sized<T>(items: readonly T[], write: (item: T) => void): void {
    this.array(items.length);
    for (const item of items) write(item);
  }

  map<T>(entries: readonly (readonly [string, T])[], write: (value: T) => void): void {
    this.#head(MAP, entries.length);
    for (const [key, value] of entries) {
      this.text(key);
      write(value);
    }
  }

  /** Writes a value that may be missing. */
  optional<T>(value: T | undefined, write: (value: T) => void): void {
    this.array(value === undefined ? 0 : 1);
    if (value !== undefined) write(value);
  }

  #head(kind: number, value: number | bigint): void {
    const first = kind << 5;
    if (value < 24) this.#append([first | Number(value)]);
    else if (value < 2 ** 8) this.#append([first | 24, Number(value)]);
    else if (value < 2 ** 16) this.#append([first | 25, ...bigEndian(value, 2)]);
    else if (value < 2 ** 32) this.#append([first | 26, ...bigEndian(value, 4)]);
    else this.#append([first | 27, ...bigEndian(value, 8)]);
  }

  #append(bytes: ArrayLike<number>): void {
    const end = this.#length + bytes.length;
    if (end > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(end, 2 * this.#bytes.length));
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    this.#bytes.set(bytes, this.#length);
    this.#length = end;
  }
}

function bigEndian(value: number | bigint, length: number): number[] {
  const integer = BigInt(value);
  return Array.from({ length }, (_, at) => Number((integer >> BigInt(8 * (length - 1 - at))) & 0xffn));
}
