/** Reads and changes the set of held capabilities. */

import { ContractError } from '../errors.ts';
import { LANGUAGE_MODULE, QualifiedName } from '../names.ts';
import type { Capability } from '../runtime/environment.ts';
import type { Evaluator } from '../runtime/native.ts';
import type { Capabilities, Grant } from '../runtime/state.ts';
import { areEqual } from '../values/values.ts';

/** Whether two capabilities have the same name and equal arguments. */
export function isSame(a: Capability, b: Capability): boolean {
  return a.name.text === b.name.text && areEqual(a.args, b.args);
}

export function includesCapability(all: readonly Capability[], capability: Capability): boolean {
  return all.some((each) => isSame(each, capability));
}

/** @returns the acquired capabilities, with the capabilities that they have composed */
export function heldCapabilities({ grants }: Capabilities): readonly Capability[] {
  return grants.flatMap(({ capability, composed }) => [capability, ...composed]);
}

/** Counts a step for each capability that is held. */
export function isHeld(evaluator: Evaluator, capability: Capability): boolean {
  const held = heldCapabilities(evaluator.state.capabilities);
  evaluator.spend(held.length);
  return includesCapability(held, capability);
}

/* Changes. */

export function changeCapabilities(evaluator: Evaluator, changed: Partial<Capabilities>): void {
  const { state } = evaluator;
  evaluator.state = { ...state, capabilities: { ...state.capabilities, ...changed } };
}

/** Runs an action during which exactly these capabilities count as being evaluated. */
export function whileEvaluating<T>(evaluator: Evaluator, capabilities: readonly Capability[], action: () => T): T {
  const { evaluating: before } = evaluator.state.capabilities;
  changeCapabilities(evaluator, { evaluating: capabilities });
  const result = action();
  changeCapabilities(evaluator, { evaluating: before });
  return result;
}

export function pushGrant(evaluator: Evaluator, grant: Grant): void {
  changeCapabilities(evaluator, { grants: [...evaluator.state.capabilities.grants, grant] });
}

export function takeGrant(evaluator: Evaluator): Grant {
  const { grants } = evaluator.state.capabilities;
  changeCapabilities(evaluator, { grants: grants.slice(0, -1) });
  return grants[grants.length - 1];
}

/** Runs an action while a capability is held. */
export function whileHolding(evaluator: Evaluator, capability: Capability, action: () => void): void {
  const { grants } = evaluator.state.capabilities;
  pushGrant(evaluator, { capability, composed: [] });
  action();
  changeCapabilities(evaluator, { grants });
}

/** The names of the capabilities of the language itself. */
type ReservedCapability = 'DEFINE_KEYSET' | 'DEFINE_NAMESPACE' | 'MODULE_KEYSET' | 'NAMESPACE';

/**
 * Enforces the guard of something that has a name, such as a keyset. Since version 5.2, a signature can be limited to
 * this name, by a capability of the language such as `(pact.DEFINE_KEYSET "n.k")`.
 * @param ask enforces the guard
 */
export function withReserved(evaluator: Evaluator, reserved: ReservedCapability, name: string, ask: () => void): void {
  if (evaluator.dialect === 4 || evaluator.environment.flags.has('DisablePact52')) {
    ask();
    return;
  }
  const capability = { name: new QualifiedName(LANGUAGE_MODULE, reserved), args: [name] };
  if (isHeld(evaluator, capability)) {
    throw new ContractError('eval', `magic cap already acquired: ${reserved}`);
  }
  whileHolding(evaluator, capability, ask);
}
