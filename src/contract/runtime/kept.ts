/** Bounds what a session keeps from one form to the next, which steps do not: each form may take all of them again. */

import { Decimal } from '../values/decimal.ts';
import { isGuard, isList, isObject, MAX_PARTS, type Value } from '../values/values.ts';

/**
 * Why a run ends although its code has not failed: no code can catch it, as it can a ContractError. The message is a
 * clause.
 */
export class RunEnded extends Error {
  override readonly name = 'RunEnded';
}

/** About what an object of this process takes beside its texts, in characters. */
const PART = 32;
/** About what a row, an event or an expectation takes beside its values, in characters. */
const ENTRY = 256;

/** A text that is printed waits for its reader as a text and in bytes: nothing leaves a process whose code runs. */
const PRINTED = 4;

export class Kept {
  readonly #most: number;
  readonly #holder: string;
  #characters = 0;

  /** @param most maximum number of characters @param holder what has more than that, as an error says it */
  constructor(most: number, holder: string) {
    this.#most = most;
    this.#holder = holder;
  }

  /** Counts what is kept from now on. Nothing is ever taken off: a session ends soon. @throws RunEnded for too much */
  add(characters: number): void {
    this.#characters += characters;
    if (this.#characters > this.#most) throw new RunEnded(`${this.#holder} more than ${this.#most} characters`);
  }

  /** Counts a text that is printed. @throws RunEnded for too much */
  addPrinted(text: string): void {
    this.add(PRINTED * text.length);
  }

  /** Counts an entry with its values, each as often as it is in there. @throws RunEnded for too much */
  addEntry(values: Iterable<Value>): void {
    this.add(ENTRY + charactersOf(values));
  }
}

/** Looks at `MAX_PARTS` parts at most: a value with more of them has some of its parts many times. */
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

/** A list can have more items than a call can have arguments. */
function addTo(waiting: Value[], values: readonly Value[]): void {
  for (const each of values) waiting.push(each);
}

/** @returns the characters that take as much memory as an integer */
function digitsOf(integer: bigint): number {
  return BigInt.asIntN(64, integer) === integer ? 0 : integer.toString(16).length / 2;
}
