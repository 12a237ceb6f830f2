/**
 * The functions of the interpreter for defpacts: `continue-pact` and its other name `continue-flow` run a step, and
 * `pact-state` shows the state of the last defpact.
 */

import { continueDefpact } from '../../defpacts/defpacts.ts';
import { storableObject } from '../../defpacts/yields.ts';
import { ContractError } from '../../errors.ts';
import type { DefpactState, Yield } from '../../runtime/defpact-state.ts';
import { type Evaluator, type Native, strict } from '../../runtime/native.ts';
import { type ContractObject, isObject, sortedObject, type Value } from '../../values/values.ts';

const STEP = 'step:integer';
const CONTINUE_SIGNATURES = [
  STEP,
  `${STEP} rollback:bool`,
  `${STEP} rollback:bool pact-id:string`,
  `${STEP} rollback:bool pact-id:string yielded:object:<{y}>`,
].map((parameters) => `${parameters} -> string`);

export function defpacts(): readonly Native[] {
  return [
    continuing('continue-pact'),
    continuing('continue-flow'),
    strict('pact-state', [' -> object:*', 'clear:bool -> object:*'], ([clear, ...more], { evaluator }) => {
      if (more.length > 0 || (clear !== undefined && typeof clear !== 'boolean')) return undefined;
      const { defpact } = evaluator.state;
      if (!defpact) {
        const kind = evaluator.dialect === 4 ? 'eval' : 'tx-failure';
        throw new ContractError(kind, 'pact-state: no pact exec in context');
      }
      if (clear === true) clearDefpact(evaluator);
      return shownState(defpact, evaluator);
    }),
  ];
}

/**
 * Makes the function `continue-pact` under the given name. The function runs a step of the defpact with the given pact
 * id; without a pact id, of the defpact executed last. The step resumes the given object. Without an object, it resumes
 * the yield of the defpact executed last or, if there is none, the stored yield of the defpact that continues.
 */
function continuing(name: string): Native {
  return strict(name, CONTINUE_SIGNATURES, (values, { evaluator, position }) => {
    const [step, isRollback = false, id, object] = values;
    if (typeof step !== 'bigint' || typeof isRollback !== 'boolean' || values.length > 4) return undefined;
    if ((id !== undefined && typeof id !== 'string') || (object !== undefined && !isObject(object))) return undefined;
    const last = evaluator.state.defpact;
    const pactId = id ?? last?.id;
    if (pactId === undefined) throw withoutDefpact(evaluator);
    const resumed = object ? ownYield(evaluator, object, last) : last?.yielded;
    clearDefpact(evaluator);
    return continueDefpact(evaluator, { pactId, step: Number(step), isRollback, resumed }, undefined, position);
  });
}

/** @param last the defpact executed last @returns a yield of the object, with the provenance of this defpact's yield */
function ownYield(evaluator: Evaluator, object: ContractObject, last: DefpactState | undefined): Yield {
  return { data: storableObject(evaluator, object), provenance: last?.yielded?.provenance, sourceChain: undefined };
}

function clearDefpact(evaluator: Evaluator): void {
  evaluator.state = { ...evaluator.state, defpact: undefined };
}

function shownState({ id, step, yielded, isExecuted }: DefpactState, { dialect }: Evaluator): Value {
  const fields: [string, Value][] = [
    ['pactId', id],
    ['step', BigInt(step)],
    ['yield', yielded?.data ?? false],
  ];
  // Dialect 5 has no steps of single participants, so its state does not show whether a step was executed.
  if (dialect === 4) fields.push(['executed', isExecuted !== false]);
  return sortedObject(fields);
}

function withoutDefpact({ dialect }: Evaluator): ContractError {
  const message5 = 'No defpact id or execution environment supplied';
  const message = dialect === 4 ? 'continue-pact: No pact id supplied and no pact exec in context' : message5;
  return new ContractError('eval', message);
}
