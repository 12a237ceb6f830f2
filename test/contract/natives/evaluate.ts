/** Evaluates single expressions for the tests of natives. */

import type { Dialect } from '#pickaxe/contract/dialect.js';
import { Evaluator, MAX_STEPS } from '#pickaxe/contract/evaluator.js';
import { parseProgram } from '#pickaxe/contract/forms.js';
import { NATIVES } from '#pickaxe/contract/natives/natives.js';
import type { Expression } from '#pickaxe/contract/syntax.js';

/** @returns what the interactive interpreter prints */
export function printedValue(code: string, dialect: Dialect = 4, maxSteps = MAX_STEPS): string {
  const evaluator = new Evaluator({ dialect, natives: NATIVES, maxSteps });
  const [form] = parseProgram(code, dialect);
  return evaluator.print(evaluator.evaluate(form as Expression));
}
