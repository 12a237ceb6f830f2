/**
 * Managed capabilities of dialect 4. The body of such a capability runs once, when the capability is installed. Each
 * acquisition of the capability also acquires the capabilities that the body has composed.
 */

import { ContractError } from '../errors.ts';
import { type Capability, signedCapabilities } from '../runtime/environment.ts';
import type { Member } from '../runtime/module.ts';
import type { Evaluator } from '../runtime/native.ts';
import type { InstalledCapability } from '../runtime/state.ts';
import type { Defcap } from '../syntax/tree.ts';
import { printedCapability } from '../values/printing.ts';
import type { Value } from '../values/values.ts';
import { type Applied, runBody } from './applied.ts';
import { changeCapabilities, includesCapability, pushGrant, takeGrant, whileEvaluating } from './grants.ts';
import {
  askManager,
  changeInstalled,
  findInstalled,
  isSameApartFromManaged,
  keepInstalled,
  managerOf,
} from './managed.ts';

/**
 * Records that code has requested a managed capability with `install-capability`. The first acquisition of the
 * capability then installs it.
 */
export function requestInstallation(evaluator: Evaluator, capability: Capability): void {
  const { autonomous } = evaluator.state.capabilities;
  evaluator.spend(autonomous.length);
  if (includesCapability(autonomous, capability)) return;
  changeCapabilities(evaluator, { autonomous: [...autonomous, capability] });
}

/**
 * Uses a managed capability once, and first installs it if it is not installed yet.
 * @returns the capabilities that are acquired together with the given capability
 * @throws ContractError if the capability cannot be installed, if its manager function fails, or if a capability
 *   without a manager function is used again
 */
export function approve(evaluator: Evaluator, applied: Applied): readonly Capability[] {
  const { capability, call } = applied;
  const manager = managerOf(call.member);
  const matches = (other: Capability) => isSameApartFromManaged(capability, other, manager);
  const usable = findInstalled(evaluator, matches) ?? installFrom(evaluator, call.member, matches);
  if (!usable) {
    const shown = printedCapability(capability.name, capability.args, evaluator.dialect);
    throw new ContractError('eval', `Managed capability not installed: ${shown}`);
  }
  changeInstalled(evaluator, usable, manager ? askManager(evaluator, usable, manager, capability) : fire(usable));
  return usable.composed;
}

/**
 * Uses a capability without a manager function, which can be acquired only once.
 * @returns false, the new value of `remaining`
 * @throws ContractError if the capability was acquired before
 */
function fire({ remaining }: InstalledCapability): Value {
  if (remaining === true) return false;
  throw new ContractError('eval', 'Capability already fired');
}

/**
 * Installs the first capability that matches. The search begins with the capabilities that code has requested, and
 * continues with those that signatures are limited to, and those that verifiers have checked.
 * @returns undefined if none matches
 */
function installFrom(
  evaluator: Evaluator,
  member: Member<Defcap>,
  matches: (capability: Capability) => boolean,
): InstalledCapability | undefined {
  const { environment, state } = evaluator;
  const offered = [
    ...state.capabilities.autonomous,
    ...signedCapabilities(environment),
    ...environment.verifiers.flatMap(({ capabilities }) => capabilities),
  ];
  const capability = offered.find(matches);
  if (!capability) return undefined;
  const applied = { capability, call: { member, args: capability.args } };
  return whileEvaluating(evaluator, [...state.capabilities.evaluating, capability], () => install(evaluator, applied));
}

/**
 * Runs the body of a capability once, and records the capability as installed, together with the capabilities that the
 * body has composed.
 * @throws ContractError if the body fails, or if the capability is installed already, perhaps with another managed
 *   argument
 */
export function install(evaluator: Evaluator, applied: Applied): InstalledCapability {
  const { capability, call } = applied;
  const manager = managerOf(call.member);
  if (findInstalled(evaluator, (other) => isSameApartFromManaged(capability, other, manager))) {
    const shown = printedCapability(capability.name, capability.args, evaluator.dialect);
    throw new ContractError('eval', `Duplicate install of managed capability ${shown}`);
  }
  pushGrant(evaluator, { capability, composed: [] });
  runBody(evaluator, call);
  const { composed } = takeGrant(evaluator);
  return keepInstalled(evaluator, applied, composed);
}
