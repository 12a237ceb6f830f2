/**
 * Reads and changes two lists of a transaction: the capabilities that are held, and those whose bodies are being
 * evaluated.
 */

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

/** @returns each acquired capability, followed by the capabilities that its body has composed */
export function heldCapabilities({ grants }: Capabilities): readonly Capability[] {
  return grants.flatMap(({ capability, composed }) => [capability, ...composed]);
}

/** Whether a capability is held. Counts a step for each held capability. */
export function isHeld(evaluator: Evaluator, capability: Capability): boolean {
  const held = heldCapabilities(evaluator.state.capabilities);
  evaluator.spend(held.length);
  return includesCapability(held, capability);
}

/* Changing the lists. */

export function changeCapabilities(evaluator: Evaluator, changed: Partial<Capabilities>): void {
  const { state } = evaluator;
  evaluator.state = { ...state, capabilities: { ...state.capabilities, ...changed } };
}

/** Runs an action. Meanwhile, exactly the given capabilities count as being evaluated. */
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

/** Removes the newest grant, which must exist. @returns this grant */
export function takeGrant(evaluator: Evaluator): Grant {
  const { grants } = evaluator.state.capabilities;
  changeCapabilities(evaluator, { grants: grants.slice(0, -1) });
  return grants[grants.length - 1];
}

/** Runs an action while a capability is held. Afterwards, the grants are the same as before. */
export function whileHolding(evaluator: Evaluator, capability: Capability, action: () => void): void {
  const { grants } = evaluator.state.capabilities;
  pushGrant(evaluator, { capability, composed: [] });
  action();
  changeCapabilities(evaluator, { grants });
}

/** The names of the capabilities that the language itself defines. */
type ReservedCapability = 'DEFINE_KEYSET' | 'DEFINE_NAMESPACE' | 'MODULE_KEYSET' | 'NAMESPACE';

/**
 * Enforces the guard of a keyset, a namespace or a module. Since version 5.2, a capability that the language itself
 * defines is held meanwhile, such as `(pact.DEFINE_KEYSET "n.k")`. So signatures can be limited to this capability.
 * @param name the name of the keyset, namespace or module, which is the argument of the capability
 * @param ask enforces the guard
 * @throws ContractError if `ask` throws one; since version 5.2, also if the capability of the language is held already
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
