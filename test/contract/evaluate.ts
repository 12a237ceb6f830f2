/** Evaluates single expressions. */

import type { Dialect } from '#pickaxe/contract/dialect.js';
import { MAX_STEPS, TreeEvaluator } from '#pickaxe/contract/evaluator/evaluator.js';
import { NATIVES } from '#pickaxe/contract/natives/natives.js';
import { parseProgram } from '#pickaxe/contract/syntax/program.js';
import type { Expression } from '#pickaxe/contract/syntax/tree.js';
import type { Value } from '#pickaxe/contract/values/values.js';

export function evaluate(code: string, dialect: Dialect = 4, maxSteps = MAX_STEPS): { value: Value; text: string } {
  const evaluator = new TreeEvaluator({ dialect, natives: NATIVES, maxSteps });
  const [form] = parseProgram(code, dialect);
  const value = evaluator.evaluate(form as Expression);
  return { value, text: evaluator.print(value) };
}

/** @returns what the interactive interpreter prints */
export function printedValue(code: string, dialect?: Dialect, maxSteps?: number): string {
  return evaluate(code, dialect, maxSteps).text;
}
