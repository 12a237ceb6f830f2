/** Counts work in steps, so that a few characters of code cannot take much time or memory. */

import { ContractError } from '../errors.ts';
import { checkCharacters, MAX_PARTS, Walk } from '../values/values.ts';

/** Counts steps, and ends a program that has used too many. */
interface Steps {
  spend(steps: number): void;
}

/** A walk through a value. It counts a step for each part, because code can make natives visit a value many times. */
export class SteppedWalk extends Walk {
  readonly #steps: Steps;
  readonly #isBounded: boolean;

  /**
   * @param isBounded whether parts and characters are limited as in a single value; false for one walk through many
   *   values, which only the steps limit
   */
  constructor(steps: Steps, { isBounded = true }: { readonly isBounded?: boolean } = {}) {
    super();
    this.#steps = steps;
    this.#isBounded = isBounded;
  }

  override visit(parts: number): void {
    if (this.#isBounded) super.visit(parts);
    this.#steps.spend(parts);
  }

  override visitText(length: number): void {
    if (this.#isBounded) super.visitText(length);
    this.#steps.spend(length);
  }
}

/**
 * Counts a step for each item of a list that a native makes or visits.
 * @param parts may be above the maximum, because parts are counted before the value is made
 * @throws ContractError for more parts than a value may have
 */
export function spendParts(steps: Steps, parts: number | bigint): void {
  if (parts > MAX_PARTS) throw new ContractError('eval', `A value has more than ${MAX_PARTS} parts`);
  steps.spend(Number(parts));
}

/**
 * Counts a step for each character of a text that a native makes or visits.
 * @param length may be above the maximum, because characters are counted before the text is made
 * @throws ContractError for more characters than a text may have
 */
export function spendText(steps: Steps, length: number): void {
  checkCharacters(length);
  steps.spend(length);
}

/** @returns each code point as a text @throws ContractError for more items than a list may have */
export function characters(steps: Steps, text: string): readonly string[] {
  spendParts(steps, text.length);
  return Array.from(text);
}
