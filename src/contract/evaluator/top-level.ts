/** Runs what stands outside of all brackets. */

import { ContractError } from '../errors.ts';
import type { TopLevel } from '../syntax/tree.ts';
import type { Value } from '../values/values.ts';
import type { Evaluator } from './evaluator.ts';
import { loadInterface, loadModule, use } from './modules.ts';
import { visitExpression } from './resolution.ts';
import { Closure } from './scope.ts';
import { checked } from './type-faults.ts';

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
      define(evaluator, form.name, new Closure({ ...form, kind: 'lambda' }, evaluator.outermostScope));
      return `Loaded repl defun ${form.name}`;
    case 'defconst': {
      const { name, value, type, position } = form;
      const { names } = evaluator.outermostScope;
      define(evaluator, name, checked({ name, type, position }, evaluator.evaluate(value), names, evaluator));
      return `Loaded repl defconst ${name}`;
    }
  }
  // Nothing runs of a form with a name that means nothing.
  visitExpression(form, evaluator.dialect, (name, position) => evaluator.requireMeaning(name, position));
  return evaluator.evaluate(form);
}

/** Only tests have definitions outside of modules. */
function define(evaluator: Evaluator, name: string, value: Value): void {
  const imported = new Map(evaluator.state.imported).set(name, value);
  evaluator.state = { ...evaluator.state, imported };
}
