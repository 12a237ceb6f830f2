/** Counts the work of natives in steps, so that a short piece of code cannot take unlimited time or memory. */

import { ContractError } from '../errors.ts';
import { checkCharacters, MAX_PARTS, Walk } from '../values/values.ts';

/** Counts steps, and throws an error when a program has used too many. */
interface Steps {
  spend(steps: number): void;
}

/**
 * A walk through a value that also counts a step for each part and each character. Without these steps, code could make
 * natives visit a large value any number of times.
 */
export class SteppedWalk extends Walk {
  readonly #steps: Steps;
  readonly #isBounded: boolean;

  /**
   * @param isBounded whether the walk fails above `MAX_PARTS` and `MAX_CHARACTERS`; true by default. It is false for a
   *   walk through several values, in which only the number of steps is limited
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
 * Counts a step for each item of a list, before a native makes or visits the list.
 * @param parts number of items, perhaps more than a list can have
 * @throws ContractError if the number of items is above `MAX_PARTS`, or if the program has used too many steps
 */
export function spendParts(steps: Steps, parts: number | bigint): void {
  if (parts > MAX_PARTS) throw new ContractError('eval', `A value has more than ${MAX_PARTS} parts`);
  steps.spend(Number(parts));
}

/**
 * Counts a step for each UTF-16 code unit of a text, before a native makes or visits the text.
 * @param length number of code units, perhaps more than a text can have
 * @throws ContractError if the length is above `MAX_CHARACTERS`, or if the program has used too many steps
 */
export function spendText(steps: Steps, length: number): void {
  checkCharacters(length);
  steps.spend(length);
}

/** @returns the code points of the text, each as a text @throws ContractError as `spendParts` */
export function characters(steps: Steps, text: string): readonly string[] {
  spendParts(steps, text.length);
  return Array.from(text);
}
