/**
 * Managed capabilities of dialect 5: the body runs whenever the capability is acquired, and then its manager is asked.
 */

import { ContractError } from '../errors.ts';
import type { Capability } from '../runtime/environment.ts';
import type { Evaluation } from '../runtime/native.ts';
import type { InstalledCapability } from '../runtime/state.ts';
import { printedCapability } from '../values/printing.ts';
import { type Applied, askManager, hasSameStatics, managerOf, runBody } from './applied.ts';
import { changeCapabilities, pushGrant, takeGrant, whileEvaluating } from './grants.ts';

/** Installs a managed capability for the rest of the transaction. @throws ContractError if it is installed already */
export function install5(evaluation: Evaluation, { capability, call }: Applied): InstalledCapability {
  if (call.member.definition.meta?.kind !== 'managed') {
    const message = 'Install capability error: capability is not managed and cannot be installed:';
    throw new ContractError('eval', `${message} ${capability.name.text}`);
  }
  const manager = managerOf(call.member);
  const { installed } = evaluation.state.capabilities;
  evaluation.spend(installed.length);
  if (installed.some((each) => hasSameStatics(capability, each.capability, manager))) {
    throw alreadyInstalled(evaluation, capability);
  }
  const remaining = manager ? capability.args[manager.parameter] : true;
  const one = { capability, composed: [], definition: call.member, manager, remaining };
  changeCapabilities(evaluation, { installed: [...installed, one] });
  return one;
}

/** Does so for code, which cannot install what somebody has signed for with another value of the managed argument. */
export function installByCode5(evaluation: Evaluation, applied: Applied): void {
  const { capability } = applied;
  const { manager } = install5(evaluation, applied);
  const isSame = (each: Capability) => hasSameStatics(capability, each, manager);
  if (manager && signedCapabilities(evaluation).some(isSame)) throw alreadyInstalled(evaluation, capability);
  const { autonomous } = evaluation.state.capabilities;
  changeCapabilities(evaluation, { autonomous: [...autonomous, capability] });
}

/** @throws ContractError unless the capability is installed or signed for, and its body and manager agree */
export function acquire5(evaluation: Evaluation, applied: Applied): void {
  const { capability } = applied;
  const usable = findInstalled(evaluation, applied);
  runInstalled(evaluation, applied, usable);
  const { manager } = usable;
  if (manager) update(evaluation, usable, { remaining: askManager(evaluation, usable, manager, capability) });
  const { composed } = takeGrant(evaluation);
  pushGrant(evaluation, { capability, composed });
}

/** Installs a managed capability and runs its body once, as `test-capability` does. */
export function tryOut5(evaluation: Evaluation, applied: Applied): void {
  runInstalled(evaluation, applied, install5(evaluation, applied));
  takeGrant(evaluation);
}

/** Signatures count in the body for what was installed, which is on top of the grants then. */
function runInstalled(evaluation: Evaluation, { call }: Applied, usable: InstalledCapability): void {
  const { capability, manager, remaining } = usable;
  if (remaining === false && !manager) {
    throw new ContractError('tx-failure', 'One-shot managed capability used more than once');
  }
  if (!manager) update(evaluation, usable, { remaining: false });
  pushGrant(evaluation, { capability, composed: [] });
  const { evaluating: before } = evaluation.state.capabilities;
  whileEvaluating(evaluation, [...before, capability], () => runBody(evaluation, call));
}

function findInstalled(evaluation: Evaluation, { capability, call }: Applied): InstalledCapability {
  const manager = managerOf(call.member);
  const matches = (other: Capability) => hasSameStatics(capability, other, manager);
  const { installed } = evaluation.state.capabilities;
  evaluation.spend(installed.length);
  const known = installed.find((each) => matches(each.capability));
  if (known) return known;
  const signed = signedCapabilities(evaluation).find(matches);
  if (signed) return install5(evaluation, { capability: signed, call: { member: call.member, args: signed.args } });
  const shown = printedCapability(capability.name, capability.args, evaluation.dialect);
  const hint = 'Check the sigs field or the arguments to verify that the capability is specified correctly.';
  const stored = `Managed capability ${capability.name.text} was not installed. ${hint}`;
  throw new ContractError('eval', `Managed capability not installed: ${shown}`, undefined, { stored });
}

function signedCapabilities({ environment }: Evaluation): readonly Capability[] {
  return environment.signatures.flatMap(({ capabilities }) => capabilities);
}

function update(evaluation: Evaluation, usable: InstalledCapability, change: Partial<InstalledCapability>): void {
  const { installed } = evaluation.state.capabilities;
  changeCapabilities(evaluation, {
    installed: installed.map((each) => (each.capability === usable.capability ? { ...each, ...change } : each)),
  });
}

function alreadyInstalled({ dialect }: Evaluation, { name, args }: Capability): ContractError {
  return new ContractError('eval', `Capability already installed: ${printedCapability(name, args, dialect)}`);
}
