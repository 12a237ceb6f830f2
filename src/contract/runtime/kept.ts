/**
 * Limits the memory that a session of the interactive interpreter keeps in use from form to form. The maximum number of
 * steps cannot limit this memory, because it applies to each form separately.
 */

import { Decimal } from '../values/decimal.ts';
import { isGuard, isList, isObject, MAX_PARTS, type Value } from '../values/values.ts';

/**
 * Ends a run although its code has not failed. Contract code can catch some kinds of ContractError, but not this error.
 * The message is a clause, without a capital letter and a full stop.
 */
export class RunEnded extends Error {
  override readonly name = 'RunEnded';
}

/** The estimated memory of a value without its characters, as the number of characters that take as much memory. */
const PART = 32;
/** The estimated memory of a row, an event or an expectation without its values, as a number of characters. */
const ENTRY = 256;

/**
 * Number of characters counted for each character of a printed text. While code runs, the process cannot write. So it
 * keeps both the text and its bytes until the code returns.
 */
const PRINTED = 4;

/** Counts the characters that are kept, and ends the run above a maximum. */
export class Kept {
  readonly #most: number;
  readonly #holder: string;
  readonly #shared: Int32Array | undefined;
  #characters = 0;

  /**
   * @param most maximum number of characters
   * @param holder the beginning of the error message: `the results have`
   * @param shared the count of all threads together, in memory that they share; absent if this thread counts alone
   */
  constructor(most: number, holder: string, shared?: Int32Array) {
    this.#most = most;
    this.#holder = holder;
    this.#shared = shared;
  }

  /**
   * Counts characters that are kept from now on. A session is short, so characters that are dropped later are not
   * subtracted.
   * @throws RunEnded above the maximum
   */
  add(characters: number): void {
    this.#characters += characters;
    if (this.#shared) {
      // Once the maximum is exceeded, the sum stays above it: it must not exceed the integers of the shared memory.
      const added = Math.min(Math.ceil(characters), this.#most + 1);
      const before = Atomics.load(this.#shared, 0);
      this.#characters = before + added;
      if (before <= this.#most) Atomics.add(this.#shared, 0, added);
    }
    if (this.#characters > this.#most) throw new RunEnded(`${this.#holder} more than ${this.#most} characters`);
  }

  /** Counts a printed text. @throws RunEnded above the maximum */
  addPrinted(text: string): void {
    this.add(PRINTED * text.length);
  }

  /** Counts an entry, such as a row or an event, with its values. @throws RunEnded above the maximum */
  addEntry(values: Iterable<Value>): void {
    this.add(ENTRY + charactersOf(values));
  }
}

/**
 * Estimates the memory of values, as a number of characters. Visits only `MAX_PARTS` parts, because values with more
 * parts contain the same parts many times.
 */
function charactersOf(values: Iterable<Value>): number {
  const waiting = [...values];
  let characters = 0;
  for (let parts = 0; waiting.length > 0 && parts < MAX_PARTS; parts++) {
    const value = waiting.pop() as Value;
    characters += PART;
    if (typeof value === 'string') characters += value.length;
    else if (typeof value === 'bigint') characters += digitsOf(value);
    else if (value instanceof Decimal) characters += digitsOf(value.mantissa);
    else if (isList(value)) addTo(waiting, value);
    else if (isObject(value)) for (const [key, each] of value) waiting.push(key, each);
    else if (isGuard(value)) addTo(waiting, value.kind === 'keyset' ? value.keys : 'args' in value ? value.args : []);
  }
  return characters;
}

/** Appends the values. `push(...values)` would fail for a long list, because the number of arguments is limited. */
function addTo(waiting: Value[], values: readonly Value[]): void {
  for (const each of values) waiting.push(each);
}

/**
 * @returns the memory of the integer, as a number of characters: one for each byte; 0 for an integer of 64 bits or
 *   fewer, whose memory `PART` includes
 */
function digitsOf(integer: bigint): number {
  return BigInt.asIntN(64, integer) === integer ? 0 : integer.toString(16).length / 2;
}
