/** Acquires capabilities. A capability is a permission that code holds for some time. */

import type { Evaluator } from '../runtime/native.ts';
import { type Applied, runBody } from './applied.ts';
import { emitAcquired } from './emitted-events.ts';
import { isHeld, pushGrant, whileEvaluating } from './grants.ts';
import { approve } from './managed4.ts';
import { acquire5 } from './managed5.ts';

/** Number of steps counted for an acquisition, because it makes several new state objects. */
const ACQUISITION_STEPS = 16;

/**
 * Acquires a capability, unless it is held already.
 * @param isComposed whether the body of another capability composes this one. In dialect 4, only then do the
 *   capabilities that are being evaluated count as such together with the acquired one. In dialect 5, they always do
 * @returns whether the capability was acquired now. If so, the grant of the capability is the newest
 * @throws ContractError if the capability cannot be acquired
 */
export function acquire(evaluator: Evaluator, applied: Applied, isComposed = false): boolean {
  const { capability, call } = applied;
  evaluator.spend(ACQUISITION_STEPS);
  if (isHeld(evaluator, capability)) return false;
  const { meta } = call.member.definition;
  const { evaluating } = evaluator.state.capabilities;
  const around = isComposed || evaluator.dialect === 5 ? evaluating : [];
  if (meta?.kind === 'managed' && evaluator.dialect === 5) acquire5(evaluator, applied);
  else whileEvaluating(evaluator, [...around, capability], () => enact(evaluator, applied));
  if (meta) emitAcquired(evaluator, capability, call.member.module);
  return true;
}

/** Acquires a capability that is not managed, by running its body, or a managed capability of dialect 4. */
function enact(evaluator: Evaluator, applied: Applied): void {
  const { capability, call } = applied;
  if (call.member.definition.meta?.kind === 'managed') {
    pushGrant(evaluator, { capability, composed: approve(evaluator, applied) });
    return;
  }
  pushGrant(evaluator, { capability, composed: [] });
  runBody(evaluator, call);
}
