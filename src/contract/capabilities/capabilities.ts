/** Capabilities: what code may do as long as it holds them. */

import { ContractError, type Position } from '../errors.ts';
import type { Capability } from '../runtime/environment.ts';
import type { Evaluation, MemberCall } from '../runtime/native.ts';
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
 * @throws ContractError unless the code of the capability's module runs, or its governance agrees
 */
export function withCapability(
  evaluation: Evaluation,
  call: MemberCall,
  position: Position | undefined,
  run: () => Value,
): Value {
  refuseInCapability(evaluation, 'with-capability');
  const applied = appliedCapability(evaluation, call, position);
  requireModuleRights(evaluation, applied.call.member.module);
  const isNew = acquire(evaluation, applied, []);
  const value = run();
  if (isNew) takeGrant(evaluation);
  return value;
}

/**
 * Acquires a capability for the rest of the transaction. A managed one is installed by the transaction's signatures.
 */
export function acquireForTransaction(evaluation: Evaluation, applied: Applied): void {
  acquire(evaluation, applied, []);
}

/** What `test-capability` does: acquires a capability for the rest of the transaction, or installs a managed one. */
export function testCapability(evaluation: Evaluation, applied: Applied): Value {
  const { capability, call } = applied;
  if (evaluation.dialect === 5) {
    // A capability with `@event` cannot be tested: `installAndRun5` refuses each that is not managed.
    if (call.member.definition.meta) installAndRun5(evaluation, applied);
    else acquire(evaluation, applied, []);
    return UNIT;
  }
  if (call.member.definition.meta?.kind === 'managed') {
    whileEvaluating(evaluation, [capability], () => install(evaluation, applied));
    return 'Capability installed';
  }
  return acquire(evaluation, applied, []) ? 'Capability acquired' : 'Capability already acquired';
}

/** Acquires a capability for as long as the capability is held whose body runs. */
export function composeCapability(evaluation: Evaluation, applied: Applied): void {
  if (evaluation.context.frame?.member.definition.kind !== 'defcap') {
    throw new ContractError('eval', 'compose-capability valid only within defcap body');
  }
  requireModuleRights(evaluation, applied.call.member.module);
  if (!acquire(evaluation, applied, evaluation.state.capabilities.evaluating)) return;
  const { capability, composed } = takeGrant(evaluation);
  const outer = takeGrant(evaluation);
  // All capabilities that the outer one has composed are copied.
  evaluation.spend(outer.composed.length + composed.length);
  pushGrant(evaluation, { ...outer, composed: [...outer.composed, capability, ...composed] });
}

/** @throws ContractError where the body of a capability runs, which must not acquire or request others */
export function refuseInCapability(evaluation: Evaluation, what: string): void {
  const isInside = findFrame(evaluation.context.frame, ({ member }) => member.definition.kind === 'defcap');
  if (!isInside) return;
  const message =
    evaluation.dialect === 4 ? `${what} not allowed within defcap execution` : `Form illegal within defcap ${what}`;
  throw new ContractError('eval', message);
}

/** Lets code use a managed capability that nobody has signed for. */
export function installByCode(evaluation: Evaluation, applied: Applied): void {
  if (evaluation.dialect === 5) installByCode5(evaluation, applied);
  else requestInstallation(evaluation, applied.capability);
}

/* Acquiring. */

/** Number of steps that one acquisition counts as, because it changes the state several times. */
const ACQUISITION_STEPS = 16;

/**
 * @param around the outer capabilities whose bodies are being evaluated
 * @returns whether the capability was not held before; its grant is then the newest
 */
function acquire(evaluation: Evaluation, applied: Applied, around: readonly Capability[]): boolean {
  const { capability, call } = applied;
  evaluation.spend(ACQUISITION_STEPS);
  if (isHeld(evaluation, capability)) return false;
  const { meta } = call.member.definition;
  if (meta?.kind === 'managed' && evaluation.dialect === 5) acquire5(evaluation, applied);
  else whileEvaluating(evaluation, [...around, capability], () => enact(evaluation, applied));
  if (meta) emitAcquired(evaluation, capability, call.member.module);
  return true;
}

function enact(evaluation: Evaluation, applied: Applied): void {
  const { capability, call } = applied;
  if (call.member.definition.meta?.kind === 'managed') {
    pushGrant(evaluation, { capability, composed: approve(evaluation, applied) });
    return;
  }
  pushGrant(evaluation, { capability, composed: [] });
  runBody(evaluation, call);
}
