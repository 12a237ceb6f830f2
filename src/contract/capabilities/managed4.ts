/**
 * Managed capabilities of dialect 4: the body runs when the capability is installed, and what it composes comes along
 * whenever the capability is acquired.
 */

import { ContractError } from '../errors.ts';
import type { Capability } from '../runtime/environment.ts';
import type { Member } from '../runtime/module.ts';
import type { Evaluation } from '../runtime/native.ts';
import type { InstalledCapability } from '../runtime/state.ts';
import type { Defcap } from '../syntax/tree.ts';
import { printedCapability } from '../values/printing.ts';
import type { Value } from '../values/values.ts';
import { type Applied, askManager, hasSameStatics, managerOf, runBody } from './applied.ts';
import { changeCapabilities, includesCapability, pushGrant, takeGrant, whileEvaluating } from './grants.ts';

/** Notes that code wants a managed capability, which is installed when it is first acquired. */
export function announce(evaluation: Evaluation, capability: Capability): void {
  const { autonomous } = evaluation.state.capabilities;
  evaluation.spend(autonomous.length);
  if (includesCapability(autonomous, capability)) return;
  changeCapabilities(evaluation, { autonomous: [...autonomous, capability] });
}

/** @returns what the capability brings along @throws ContractError unless it is installed and its manager agrees */
export function approve(evaluation: Evaluation, applied: Applied): readonly Capability[] {
  const { capability, call } = applied;
  const manager = managerOf(call.member);
  const matches = (other: Capability) => hasSameStatics(capability, other, manager);
  const { installed } = evaluation.state.capabilities;
  evaluation.spend(installed.length);
  const known = installed.find((each) => matches(each.capability));
  const usable = known ?? installFrom(evaluation, call.member, matches);
  if (!usable) {
    const shown = printedCapability(capability.name, capability.args, evaluation.dialect);
    throw new ContractError('eval', `Managed capability not installed: ${shown}`);
  }
  const remaining = manager ? askManager(evaluation, usable, manager, capability) : fire(usable);
  // The manager may have installed others.
  changeCapabilities(evaluation, {
    installed: evaluation.state.capabilities.installed.map((each) =>
      each.capability === usable.capability ? { ...usable, remaining } : each,
    ),
  });
  return usable.composed;
}

function fire({ remaining }: InstalledCapability): Value {
  if (remaining === true) return false;
  throw new ContractError('eval', 'Capability already fired');
}

/** Installs the first of those that were signed for, or announced by code, that matches. */
function installFrom(
  evaluation: Evaluation,
  member: Member<Defcap>,
  matches: (capability: Capability) => boolean,
): InstalledCapability | undefined {
  const { signatures, verifiers } = evaluation.environment;
  const offered = [
    ...evaluation.state.capabilities.autonomous,
    ...signatures.flatMap(({ capabilities }) => capabilities),
    ...verifiers.flatMap(({ capabilities }) => capabilities),
  ];
  const capability = offered.find(matches);
  if (!capability) return undefined;
  const { evaluating: before } = evaluation.state.capabilities;
  const applied = { capability, call: { member, args: capability.args } };
  return whileEvaluating(evaluation, [...before, capability], () => install(evaluation, applied));
}

/** Runs the body with the arguments that were signed for, and keeps what it composes. */
export function install(evaluation: Evaluation, { capability, call }: Applied): InstalledCapability {
  const manager = managerOf(call.member);
  if (evaluation.state.capabilities.installed.some((each) => hasSameStatics(capability, each.capability, manager))) {
    const shown = printedCapability(capability.name, capability.args, evaluation.dialect);
    throw new ContractError('eval', `Duplicate install of managed capability ${shown}`);
  }
  pushGrant(evaluation, { capability, composed: [] });
  runBody(evaluation, call);
  const { composed } = takeGrant(evaluation);
  const remaining = manager ? capability.args[manager.parameter] : true;
  const installed = { capability, composed, definition: call.member, manager, remaining };
  changeCapabilities(evaluation, { installed: [...evaluation.state.capabilities.installed, installed] });
  return installed;
}
