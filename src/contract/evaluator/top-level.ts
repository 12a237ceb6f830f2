/** Runs top-level forms, which are the forms that no other form contains. */

import { ContractError } from '../errors.ts';
import { use } from '../modules/imports.ts';
import { loadInterface, loadModule } from '../modules/modules.ts';
import { type Declare, refuseShadow, type Visit, visitDefinition, visitExpression } from '../modules/resolution.ts';
import { Closure } from '../runtime/scope.ts';
import { checked } from '../runtime/type-faults.ts';
import type { Defconst, Defun, TopLevel } from '../syntax/tree.ts';
import type { Value } from '../values/values.ts';
import type { TreeEvaluator } from './evaluator.ts';

/** @returns the value that the interpreter prints @throws ContractError with a position, if the form fails */
export function runTopLevel(evaluator: TreeEvaluator, form: TopLevel): Value {
  try {
    return run(evaluator, form);
  } catch (fault) {
    throw fault instanceof ContractError ? fault.at(form.position) : fault;
  }
}

function run(evaluator: TreeEvaluator, form: TopLevel): Value {
  switch (form.kind) {
    case 'module':
      return loadModule(evaluator, form);
    case 'interface':
      return loadInterface(evaluator, form);
    case 'use':
      return use(evaluator, form);
    case 'defun':
      checkDefinition(evaluator, form);
      define(evaluator, form.name, new Closure({ ...form, kind: 'lambda' }, evaluator.outermostScope, form));
      return `Loaded repl defun ${form.name}`;
    case 'defconst': {
      const { name, value, type, position } = form;
      checkDefinition(evaluator, form);
      const { names } = evaluator.outermostScope;
      define(evaluator, name, checked({ type, position }, evaluator.evaluate(value), names, evaluator));
      return `Loaded repl defconst ${name}`;
    }
  }
  // All names are looked up before the form runs, so that no part of a form with an unknown name runs. Only the members
  // of module references are looked up while it runs.
  const visit: Visit = (name, position) => evaluator.requireMeaning(name, position);
  visitExpression(form, evaluator.dialect, visit, (name, position) => refuseShadow(evaluator, name, position));
  return evaluator.evaluateShown(form);
}

/**
 * @throws ContractError in dialect 5 if the definition, a parameter or a variable has the name of a native. The names
 *   that the code uses are only looked up when the code runs
 */
function checkDefinition(evaluator: TreeEvaluator, form: Defun | Defconst): void {
  const refuse: Declare = (name, position) => refuseShadow(evaluator, name, position);
  refuse(form.name, form.position);
  visitDefinition(form, evaluator.dialect, () => {}, refuse);
}

/**
 * Makes a definition outside of modules usable for the code that follows in the transaction. Only dialect 5 has such
 * definitions.
 */
function define(evaluator: TreeEvaluator, name: string, value: Value): void {
  evaluator.kept?.addEntry([name, value]);
  const imported = new Map(evaluator.state.imported).set(name, value);
  evaluator.state = { ...evaluator.state, imported };
}
