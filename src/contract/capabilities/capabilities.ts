/** Capabilities: what code may do as long as it holds them. */

import { ContractError, type Position } from '../errors.ts';
import type { Capability } from '../runtime/environment.ts';
import type { Evaluator, MemberCall } from '../runtime/native.ts';
import { findFrame } from '../runtime/state.ts';
import { UNIT, type Value } from '../values/values.ts';
import { type Applied, appliedCapability, runBody } from './applied.ts';
import { emitAcquired } from './emitted-events.ts';
import { isHeld, pushGrant, takeGrant, whileEvaluating } from './grants.ts';
import { requireModuleRights } from './guards.ts';
import { approve, install, requestInstallation } from './managed4.ts';
import { acquire5, installAndRun5, installByCode5 } from './managed5.ts';

/**
 * Runs code while it holds a capability.
 * @throws ContractError unless code of the capability's module runs, or the module's governance agrees
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
  const isNew = acquire(evaluator, applied, []);
  const value = run();
  if (isNew) takeGrant(evaluator);
  return value;
}

/**
 * Acquires a capability for the rest of the transaction. A managed capability is first installed from the
 * transaction's signatures.
 */
export function acquireForTransaction(evaluator: Evaluator, applied: Applied): void {
  acquire(evaluator, applied, []);
}

/**
 * What `test-capability` does: acquires a capability for the rest of the transaction, or installs a managed
 * capability.
 */
export function testCapability(evaluator: Evaluator, applied: Applied): Value {
  const { capability, call } = applied;
  if (evaluator.dialect === 5) {
    // `installAndRun5` refuses a capability with `@event`, because only a managed capability can be installed.
    if (call.member.definition.meta) installAndRun5(evaluator, applied);
    else acquire(evaluator, applied, []);
    return UNIT;
  }
  if (call.member.definition.meta?.kind === 'managed') {
    whileEvaluating(evaluator, [capability], () => install(evaluator, applied));
    return 'Capability installed';
  }
  return acquire(evaluator, applied, []) ? 'Capability acquired' : 'Capability already acquired';
}

/** Acquires a capability that is held as long as the capability whose body calls this native. */
export function composeCapability(evaluator: Evaluator, applied: Applied): void {
  if (evaluator.context.frame?.member.definition.kind !== 'defcap') {
    throw new ContractError('eval', 'compose-capability valid only within defcap body');
  }
  requireModuleRights(evaluator, applied.call.member.module);
  if (!acquire(evaluator, applied, evaluator.state.capabilities.evaluating)) return;
  const { capability, composed } = takeGrant(evaluator);
  const outer = takeGrant(evaluator);
  // All capabilities that the outer one has composed are copied.
  evaluator.spend(outer.composed.length + composed.length);
  pushGrant(evaluator, { ...outer, composed: [...outer.composed, capability, ...composed] });
}

/** @throws ContractError where the body of a capability runs, which must not acquire or install other capabilities */
export function refuseInCapability(evaluator: Evaluator, what: string): void {
  const isInside = findFrame(evaluator.context.frame, ({ member }) => member.definition.kind === 'defcap');
  if (!isInside) return;
  const message =
    evaluator.dialect === 4 ? `${what} not allowed within defcap execution` : `Form illegal within defcap ${what}`;
  throw new ContractError('eval', message);
}

/** Lets code use a managed capability that nobody has signed for. */
export function installByCode(evaluator: Evaluator, applied: Applied): void {
  if (evaluator.dialect === 5) installByCode5(evaluator, applied);
  else requestInstallation(evaluator, applied.capability);
}

/* Acquiring. */

/** Number of steps counted for one acquisition, because it changes the state several times. */
const ACQUISITION_STEPS = 16;

/**
 * @param around the outer capabilities whose bodies are being evaluated
 * @returns false if the capability was held already; true if it is acquired now, with its grant as the newest
 */
function acquire(evaluator: Evaluator, applied: Applied, around: readonly Capability[]): boolean {
  const { capability, call } = applied;
  evaluator.spend(ACQUISITION_STEPS);
  if (isHeld(evaluator, capability)) return false;
  const { meta } = call.member.definition;
  if (meta?.kind === 'managed' && evaluator.dialect === 5) acquire5(evaluator, applied);
  else whileEvaluating(evaluator, [...around, capability], () => enact(evaluator, applied));
  if (meta) emitAcquired(evaluator, capability, call.member.module);
  return true;
}

function enact(evaluator: Evaluator, applied: Applied): void {
  const { capability, call } = applied;
  if (call.member.definition.meta?.kind === 'managed') {
    pushGrant(evaluator, { capability, composed: approve(evaluator, applied) });
    return;
  }
  pushGrant(evaluator, { capability, composed: [] });
  runBody(evaluator, call);
}
