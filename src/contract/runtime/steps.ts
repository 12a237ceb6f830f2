/** Goes through values whose size code decides. */

import { Walk } from '../values/values.ts';
import type { Evaluation } from './native.ts';

/** A walk through a value in which each part counts as a step: code can have the same value walked through often. */
export class SteppedWalk extends Walk {
  readonly #evaluation: Evaluation;

  constructor(evaluation: Evaluation) {
    super();
    this.#evaluation = evaluation;
  }

  override visit(parts: number): void {
    super.visit(parts);
    this.#evaluation.spend(parts);
  }

  override visitText(length: number): void {
    super.visitText(length);
    this.#evaluation.spend(length);
  }
}
