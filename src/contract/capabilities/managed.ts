/** What managed capabilities of both dialects have in common. */

import { ContractError } from '../errors.ts';
import type { Capability } from '../runtime/environment.ts';
import { Member, textOfName } from '../runtime/module.ts';
import type { Evaluator } from '../runtime/native.ts';
import type { CapabilityManager, InstalledCapability } from '../runtime/state.ts';
import type { Defcap } from '../syntax/tree.ts';
import { areEqual, type Value } from '../values/values.ts';
import { type Applied, storable } from './applied.ts';
import { changeCapabilities, isSame } from './grants.ts';

/**
 * Whether two capabilities have the same name, and equal arguments apart from the managed argument.
 * @param manager has the index of the managed argument; undefined if all arguments must be equal
 */
export function isSameApartFromManaged(a: Capability, b: Capability, manager: CapabilityManager | undefined): boolean {
  if (!manager) return isSame(a, b);
  if (a.name.text !== b.name.text || a.args.length !== b.args.length) return false;
  return a.args.every((value, at) => at === manager.parameter || areEqual(value, b.args[at]));
}

/**
 * @returns the manager; undefined for a capability that is not managed or has no manager function
 * @throws ContractError if the managed parameter or the manager function does not exist
 */
export function managerOf(member: Member<Defcap>): CapabilityManager | undefined {
  const { meta, parameters } = member.definition;
  if (meta?.kind !== 'managed' || !meta.manager) return undefined;
  const { parameter: name, function: written } = meta.manager;
  const parameter = parameters.findIndex((each) => each.name === name);
  if (parameter < 0) throw new ContractError('eval', `Invalid managed argument name: ${name}`);
  const manager = member.module.names.find(textOfName(written));
  if (manager instanceof Member && manager.is('defun')) return { function: manager, parameter };
  throw new ContractError('eval', 'Capability manager ref must be a function');
}

/**
 * Calls the manager function for an acquisition.
 * @returns the result of the function: what remains after this acquisition, such as an amount
 * @throws ContractError if the function fails, or returns a value that cannot be stored
 */
export function askManager(
  evaluator: Evaluator,
  { remaining }: InstalledCapability,
  { function: member, parameter }: CapabilityManager,
  { args }: Capability,
): Value {
  const left = evaluator.applyValue(member, [remaining, args[parameter]]);
  storable(evaluator, [left], 'Invalid return value from mgr function');
  return left;
}

/**
 * Finds the first installed capability that matches. Counts a step for each installed capability.
 * @returns undefined if none matches
 */
export function findInstalled(
  evaluator: Evaluator,
  matches: (capability: Capability) => boolean,
): InstalledCapability | undefined {
  const { installed } = evaluator.state.capabilities;
  evaluator.spend(installed.length);
  return installed.find((each) => matches(each.capability));
}

/**
 * Records that a capability is installed.
 * @param composed the capabilities that are acquired together with the installed capability
 * @returns the record
 */
export function keepInstalled(
  evaluator: Evaluator,
  { capability, call: { member } }: Applied,
  composed: readonly Capability[],
): InstalledCapability {
  const manager = managerOf(member);
  const remaining = manager ? capability.args[manager.parameter] : true;
  const installed = { capability, composed, manager, remaining };
  changeCapabilities(evaluator, { installed: [...evaluator.state.capabilities.installed, installed] });
  return installed;
}

/** Replaces what remains of an installed capability. */
export function changeInstalled(
  evaluator: Evaluator,
  { capability }: InstalledCapability,
  remaining: InstalledCapability['remaining'],
): void {
  const { installed } = evaluator.state.capabilities;
  changeCapabilities(evaluator, {
    installed: installed.map((each) => (each.capability === capability ? { ...each, remaining } : each)),
  });
}
