/** Runs what stands outside of all brackets. */

import { ContractError } from '../errors.ts';
import type { TopLevel } from '../syntax/tree.ts';
import type { Value } from '../values/values.ts';
import type { Evaluator } from './evaluator.ts';
import { loadInterface, loadModule, use } from './modules.ts';
import { visitExpression } from './resolution.ts';

/** @returns what the interpreter prints @throws ContractError */
export function runTopLevel(evaluator: Evaluator, form: TopLevel): Value {
  try {
    return run(evaluator, form);
  } catch (fault) {
    throw fault instanceof ContractError ? fault.at(form.position) : fault;
  }
}

function run(evaluator: Evaluator, form: TopLevel): Value {
  switch (form.kind) {
    case 'module':
      return loadModule(evaluator, form);
    case 'interface':
      return loadInterface(evaluator, form);
    case 'use':
      return use(evaluator, form);
    case 'defun':
    case 'defconst':
      throw new ContractError('eval', 'This evaluator has definitions only in modules');
  }
  // Nothing runs of a form with a name that means nothing.
  visitExpression(form, evaluator.dialect, (name, position) => evaluator.requireMeaning(name, position));
  return evaluator.evaluate(form);
}
