/** Composes and installs capabilities, and holds them while code runs. */

import { ContractError, type Position } from '../errors.ts';
import type { Evaluator, MemberCall } from '../runtime/native.ts';
import { findFrame } from '../runtime/state.ts';
import { UNIT, type Value } from '../values/values.ts';
import { acquire } from './acquisition.ts';
import { type Applied, appliedCapability } from './applied.ts';
import { pushGrant, takeGrant, whileEvaluating } from './grants.ts';
import { requireModuleRights } from './guards.ts';
import { install, requestInstallation } from './managed4.ts';
import { installAndRun5, installByCode5 } from './managed5.ts';

/**
 * Holds a capability while an action runs.
 * @param run evaluates the code that needs the capability
 * @throws ContractError within the body of a capability, if the running code lacks the rights that
 *   `requireModuleRights` checks, if the capability cannot be acquired, or if `run` fails
 */
export function withCapability(
  evaluator: Evaluator,
  call: MemberCall,
  position: Position | undefined,
  run: () => Value,
): Value {
  refuseInCapability(evaluator, 'with-capability');
  const applied = appliedCapability(evaluator, call, position);
  requireModuleRights(evaluator, applied.call.member.module);
  const isNew = acquire(evaluator, applied);
  const value = run();
  if (isNew) takeGrant(evaluator);
  return value;
}

/**
 * Acquires a capability until the end of the transaction. A managed capability that is not installed yet is installed
 * first, for example from a signature.
 * @throws ContractError if the capability cannot be acquired
 */
export function acquireForTransaction(evaluator: Evaluator, applied: Applied): void {
  acquire(evaluator, applied);
}

/**
 * The function `test-capability` of the interpreter. It acquires a capability until the end of the transaction. But a
 * managed capability is only installed, and its body runs once.
 * @returns the text that the interpreter prints in dialect 4; `UNIT` in dialect 5
 */
export function testCapability(evaluator: Evaluator, applied: Applied): Value {
  const { capability, call } = applied;
  if (evaluator.dialect === 5) {
    // A capability with `@event` is refused by `installAndRun5`, because only managed capabilities can be installed.
    if (call.member.definition.meta) installAndRun5(evaluator, applied);
    else acquire(evaluator, applied);
    return UNIT;
  }
  if (call.member.definition.meta?.kind === 'managed') {
    whileEvaluating(evaluator, [capability], () => install(evaluator, applied));
    return 'Capability installed';
  }
  return acquire(evaluator, applied) ? 'Capability acquired' : 'Capability already acquired';
}

/**
 * The native `compose-capability`. The composed capability is held as long as the capability whose body calls the
 * native. In dialect 4, enforcing a module's governance acquires no capability. If the governance composes one, it is
 * added to the capability that was acquired last, and it is dropped if none is held.
 * @throws ContractError if the innermost frame is not the body of a capability, in dialect 4 if the running code lacks
 *   the rights that `requireModuleRights` checks, or if the composed capability cannot be acquired
 */
export function composeCapability(evaluator: Evaluator, applied: Applied): void {
  if (evaluator.context.frame?.member.definition.kind !== 'defcap') {
    throw new ContractError('eval', 'compose-capability valid only within defcap body');
  }
  // Dialect 5 asks for no rights here: capabilities of all modules can be composed.
  if (evaluator.dialect === 4) requireModuleRights(evaluator, applied.call.member.module);
  if (!acquire(evaluator, applied, true)) return;
  const { capability, composed } = takeGrant(evaluator);
  if (evaluator.state.capabilities.grants.length === 0) return;
  const outer = takeGrant(evaluator);
  // Adding to the list of composed capabilities copies the references to all of them.
  evaluator.spend(outer.composed.length + composed.length);
  pushGrant(evaluator, { ...outer, composed: [...outer.composed, capability, ...composed] });
}

/**
 * @param what the form or native for the message: `with-capability` or `install-capability`
 * @throws ContractError within the body of a capability, and within functions that the body calls. There, only
 *   `compose-capability` may acquire capabilities
 */
export function refuseInCapability(evaluator: Evaluator, what: string): void {
  const isInside = findFrame(evaluator.context.frame, ({ member }) => member.definition.kind === 'defcap');
  if (!isInside) return;
  const message =
    evaluator.dialect === 4 ? `${what} not allowed within defcap execution` : `Form illegal within defcap ${what}`;
  throw new ContractError('eval', message);
}

/**
 * The native `install-capability`, which permits a managed capability without a signature for it. In dialect 4, this
 * native only records a request. The first acquisition of the capability then installs it.
 * @throws ContractError in dialect 5, as `installByCode5`
 */
export function installByCode(evaluator: Evaluator, applied: Applied): void {
  if (evaluator.dialect === 5) installByCode5(evaluator, applied);
  else requestInstallation(evaluator, applied.capability);
}
