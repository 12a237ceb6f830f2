/**
 * Bounds the memory that a session keeps between forms. The limit of steps cannot bound this memory, because it
 * applies to each form separately.
 */

import { Decimal } from '../values/decimal.ts';
import { isGuard, isList, isObject, MAX_PARTS, type Value } from '../values/values.ts';

/**
 * Ends a run although its code has not failed. Contract code can catch a ContractError, but not this error. The
 * message is a clause.
 */
export class RunEnded extends Error {
  override readonly name = 'RunEnded';
}

/** Estimated memory of an object of this process, without its texts, in characters. */
const PART = 32;
/** Estimated memory of a row, an event or an expectation, without its values, in characters. */
const ENTRY = 256;

/**
 * Characters counted for each character of a printed text. The process keeps the text and its bytes until the code
 * returns, because it writes nothing while code runs.
 */
const PRINTED = 4;

export class Kept {
  readonly #most: number;
  readonly #holder: string;
  #characters = 0;

  /** @param most maximum number of characters @param holder subject of the error's sentence: `the results have` */
  constructor(most: number, holder: string) {
    this.#most = most;
    this.#holder = holder;
  }

  /**
   * Counts characters that are kept from now on. Nothing is subtracted, because a session is short.
   * @throws RunEnded above the maximum
   */
  add(characters: number): void {
    this.#characters += characters;
    if (this.#characters > this.#most) throw new RunEnded(`${this.#holder} more than ${this.#most} characters`);
  }

  /** Counts a printed text. @throws RunEnded above the maximum */
  addPrinted(text: string): void {
    this.add(PRINTED * text.length);
  }

  /** Counts an entry and each occurrence of its values. @throws RunEnded above the maximum */
  addEntry(values: Iterable<Value>): void {
    this.add(ENTRY + charactersOf(values));
  }
}

/** Visits at most `MAX_PARTS` parts. A value with more parts contains the same parts many times. */
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

/** `push(...values)` would fail for long lists: a call has a maximum number of arguments. */
function addTo(waiting: Value[], values: readonly Value[]): void {
  for (const each of values) waiting.push(each);
}

/**
 * @returns the number of characters that take as much memory as the integer; 0 for up to 64 bits, which `PART` covers
 */
function digitsOf(integer: bigint): number {
  return BigInt.asIntN(64, integer) === integer ? 0 : integer.toString(16).length / 2;
}
