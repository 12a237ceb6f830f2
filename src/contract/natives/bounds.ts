/** What keeps natives from taking much time or memory for a few characters of code. */

import { ContractError } from '../errors.ts';
import type { Evaluation } from '../runtime/native.ts';
import { checkCharacters, MAX_PARTS, type Value, Walk } from '../values/values.ts';

/**
 * Counts a step for each item of a list that a native makes or visits.
 * @param parts any number, to be asked before the value is made
 * @throws ContractError for more than a value may have
 */
export function spendParts(evaluation: Evaluation, parts: number | bigint): void {
  if (parts > MAX_PARTS) throw new ContractError('eval', `A value has more than ${MAX_PARTS} parts`);
  evaluation.spend(Number(parts));
}

/**
 * Counts a step for each character of a text that a native makes or visits.
 * @param length any number, to be asked before the text is made
 * @throws ContractError for more than a text may have
 */
export function spendText(evaluation: Evaluation, length: number): void {
  checkCharacters(length);
  evaluation.spend(length);
}

/** Compares many values. Every part counts as a step, and there is no other bound. */
export class CountedWalk extends Walk {
  readonly #evaluation: Evaluation;

  constructor(evaluation: Evaluation) {
    super();
    this.#evaluation = evaluation;
  }

  override visit(parts: number): void {
    this.#evaluation.spend(parts);
  }

  override visitText(length: number): void {
    this.#evaluation.spend(length);
  }
}

/** @returns the code points of a text, each as a text @throws ContractError for more than a list may have */
export function characters(evaluation: Evaluation, text: string): readonly string[] {
  spendParts(evaluation, text.length);
  return Array.from(text);
}

export function isText(value: Value): value is string {
  return typeof value === 'string';
}
