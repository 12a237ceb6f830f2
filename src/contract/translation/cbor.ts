/** Writes CBOR (RFC 8949) as dialect 5 does: whole numbers and lengths in as few bytes as possible. */

const WORD = 2n ** 64n;

/** The kinds of items, as the first three bits of their first bytes say them. */
const [POSITIVE, NEGATIVE, BYTES, TEXTS, ARRAY, MAP, TAG] = [0, 1, 2, 3, 4, 5, 6];
const FALSE = 0xf4;
const TRUE = 0xf5;
const NULL = 0xf6;
const OPEN_ARRAY = 0x9f;
const BREAK = 0xff;
const [BIG_POSITIVE, BIG_NEGATIVE] = [2, 3];

/** Number of bytes for which there is room at first: enough for most modules. */
const FIRST_ROOM = 2 ** 14;

export class CborWriter {
  #bytes = Buffer.allocUnsafe(FIRST_ROOM);
  #length = 0;

  /** @returns what was written */
  bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  integer(value: bigint | number): void {
    const isNegative = value < 0;
    if (typeof value === 'number') {
      this.#head(isNegative ? NEGATIVE : POSITIVE, isNegative ? -1 - value : value);
      return;
    }
    const magnitude = isNegative ? -1n - value : value;
    if (magnitude < WORD) {
      this.#head(isNegative ? NEGATIVE : POSITIVE, magnitude);
      return;
    }
    this.#head(TAG, isNegative ? BIG_NEGATIVE : BIG_POSITIVE);
    const digits = magnitude.toString(16);
    this.binary(Buffer.from(digits.padStart(digits.length + (digits.length % 2), '0'), 'hex'));
  }

  text(text: string): void {
    const length = Buffer.byteLength(text);
    this.#head(TEXTS, length);
    this.#makeRoom(length);
    this.#bytes.write(text, this.#length);
    this.#length += length;
  }

  binary(bytes: Uint8Array): void {
    this.#head(BYTES, bytes.length);
    this.#makeRoom(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  boolean(value: boolean): void {
    this.#byte(value ? TRUE : FALSE);
  }

  null(): void {
    this.#byte(NULL);
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
    this.#byte(OPEN_ARRAY);
    for (const item of items) write(item);
    this.#byte(BREAK);
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

  /** @param value a whole number of at most 64 bits, which is not negative */
  #head(kind: number, value: number | bigint): void {
    const first = kind << 5;
    if (value < 24) {
      this.#byte(first | Number(value));
      return;
    }
    const [more, length] = value < 2 ** 8 ? [24, 1] : value < 2 ** 16 ? [25, 2] : value < 2 ** 32 ? [26, 4] : [27, 8];
    this.#byte(first | more);
    this.#makeRoom(length);
    if (length === 8) this.#bytes.writeBigUInt64BE(BigInt(value), this.#length);
    else this.#bytes.writeUIntBE(Number(value), this.#length, length);
    this.#length += length;
  }

  #byte(byte: number): void {
    this.#makeRoom(1);
    this.#bytes[this.#length++] = byte;
  }

  #makeRoom(bytes: number): void {
    const end = this.#length + bytes;
    if (end <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(end, 2 * this.#bytes.length));
    this.#bytes.copy(larger);
    this.#bytes = larger;
  }
}
