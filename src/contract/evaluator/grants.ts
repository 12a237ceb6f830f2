/** Which capabilities are held. */

import { ContractError } from '../errors.ts';
import { LANGUAGE, QualifiedName } from '../names.ts';
import { areEqual } from '../values/values.ts';
import type { Capability } from './environment.ts';
import type { Evaluation } from './native.ts';
import type { Capabilities, Grant, State } from './state.ts';

/** Whether two capabilities have the same name and equal arguments. */
export function isSame(a: Capability, b: Capability): boolean {
  return a.name.text === b.name.text && areEqual(a.args, b.args);
}

export function includesCapability(all: readonly Capability[], capability: Capability): boolean {
  return all.some((each) => isSame(each, capability));
}

/** @returns those that were acquired, with those that they have brought along */
export function heldCapabilities({ grants }: Capabilities): readonly Capability[] {
  return grants.flatMap(({ capability, composed }) => [capability, ...composed]);
}

export function isHeld({ capabilities }: State, capability: Capability): boolean {
  return includesCapability(heldCapabilities(capabilities), capability);
}

export function changeCapabilities(evaluation: Evaluation, changed: Partial<Capabilities>): void {
  const { state } = evaluation;
  evaluation.state = { ...state, capabilities: { ...state.capabilities, ...changed } };
}

/** Runs an action while these are the capabilities whose bodies are being evaluated. */
export function evaluating<T>(evaluation: Evaluation, capabilities: readonly Capability[], action: () => T): T {
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
export function holding<T>(evaluation: Evaluation, capability: Capability, action: () => T): T {
  pushGrant(evaluation, { capability, composed: [] });
  const result = action();
  takeGrant(evaluation);
  return result;
}

/** What signatures can be for when guards are asked outside of all capabilities of modules. */
type Reserved = 'DEFINE_KEYSET' | 'MODULE_KEYSET' | 'DEFINE_NAMESPACE' | 'NAMESPACE';

/**
 * Runs an action, which asks a guard, while the language holds a capability of its own, so that somebody can sign for
 * nothing but that. Dialect 5 has this since version 5.2.
 * @param subject the name of what is changed
 */
export function onBehalfOfLanguage<T>(evaluation: Evaluation, name: Reserved, subject: string, action: () => T): T {
  const { dialect, environment, state } = evaluation;
  if (dialect === 4 || environment.flags.has('DisablePact52')) return action();
  const capability = { name: new QualifiedName(LANGUAGE, name), args: [subject] };
  if (isHeld(state, capability)) throw new ContractError('eval', `magic cap already acquired: ${name}`);
  return holding(evaluation, capability, action);
}
