/**
 * Managed capabilities of dialect 4: the body runs once, when the capability is installed. Whatever the body composes
 * is acquired with the capability each time.
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
 * capability installs it.
 */
export function requestInstallation(evaluator: Evaluator, capability: Capability): void {
  const { autonomous } = evaluator.state.capabilities;
  evaluator.spend(autonomous.length);
  if (includesCapability(autonomous, capability)) return;
  changeCapabilities(evaluator, { autonomous: [...autonomous, capability] });
}

/**
 * @returns the capabilities that are acquired together with the given capability
 * @throws ContractError unless the capability is or can be installed, and its manager agrees
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

function fire({ remaining }: InstalledCapability): Value {
  if (remaining === true) return false;
  throw new ContractError('eval', 'Capability already fired');
}

/**
 * Installs the first match among the capabilities that code has requested, signers have signed for, or verifiers have
 * checked.
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
 * Runs the body of a capability once, and records the capability as installed, with the capabilities that its body
 * composed.
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
