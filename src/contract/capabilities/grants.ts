/** Which capabilities are held. */

import { ContractError } from '../errors.ts';
import { LANGUAGE_MODULE, QualifiedName } from '../names.ts';
import type { Capability } from '../runtime/environment.ts';
import type { Evaluation } from '../runtime/native.ts';
import type { Capabilities, Grant } from '../runtime/state.ts';
import { areEqual } from '../values/values.ts';

/** Whether two capabilities have the same name and equal arguments. */
export function isSame(a: Capability, b: Capability): boolean {
  return a.name.text === b.name.text && areEqual(a.args, b.args);
}

export function includesCapability(all: readonly Capability[], capability: Capability): boolean {
  return all.some((each) => isSame(each, capability));
}

/** @returns the acquired capabilities, with those that they have composed */
export function heldCapabilities({ grants }: Capabilities): readonly Capability[] {
  return grants.flatMap(({ capability, composed }) => [capability, ...composed]);
}

/** Counts a step for each capability that is held. */
export function isHeld(evaluation: Evaluation, capability: Capability): boolean {
  const held = heldCapabilities(evaluation.state.capabilities);
  evaluation.spend(held.length);
  return includesCapability(held, capability);
}

/* Changes. */

export function changeCapabilities(evaluation: Evaluation, changed: Partial<Capabilities>): void {
  const { state } = evaluation;
  evaluation.state = { ...state, capabilities: { ...state.capabilities, ...changed } };
}

/** Runs an action while these are the capabilities whose bodies are being evaluated. */
export function whileEvaluating<T>(evaluation: Evaluation, capabilities: readonly Capability[], action: () => T): T {
  const { evaluating: before } = evaluation.state.capabilities;
  changeCapabilities(evaluation, { evaluating: capabilities });
  const result = action();
  changeCapabilities(evaluation, { evaluating: before });
  return result;
}

export function pushGrant(evaluation: Evaluation, grant: Grant): void {
  changeCapabilities(evaluation, { grants: [...evaluation.state.capabilities.grants, grant] });
}

export function takeGrant(evaluation: Evaluation): Grant {
  const { grants } = evaluation.state.capabilities;
  changeCapabilities(evaluation, { grants: grants.slice(0, -1) });
  return grants[grants.length - 1];
}

/** Runs an action that holds a capability. */
export function whileHolding(evaluation: Evaluation, capability: Capability, action: () => void): void {
  const { grants } = evaluation.state.capabilities;
  pushGrant(evaluation, { capability, composed: [] });
  action();
  changeCapabilities(evaluation, { grants });
}

/** The names of the capabilities of the language itself. */
type ReservedCapability = 'DEFINE_KEYSET' | 'DEFINE_NAMESPACE' | 'MODULE_KEYSET' | 'NAMESPACE';

/**
 * Asks the guard of something that has a name, such as a keyset. Since version 5.2, a key may sign for this name alone,
 * with a capability of the language such as `(pact.DEFINE_KEYSET "n.k")`.
 */
export function withReserved(
  evaluation: Evaluation,
  reserved: ReservedCapability,
  name: string,
  ask: () => void,
): void {
  if (evaluation.dialect === 4 || evaluation.environment.flags.has('DisablePact52')) {
    ask();
    return;
  }
  const capability = { name: new QualifiedName(LANGUAGE_MODULE, reserved), args: [name] };
  if (isHeld(evaluation, capability)) {
    throw new ContractError('eval', `magic cap already acquired: ${reserved}`);
  }
  whileHolding(evaluation, capability, ask);
}
