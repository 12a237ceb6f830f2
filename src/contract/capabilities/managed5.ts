/** Managed capabilities of dialect 5: the body runs at each acquisition, and then its manager is called. */

import { ContractError } from '../errors.ts';
import { type Capability, signedCapabilities } from '../runtime/environment.ts';
import type { Evaluation } from '../runtime/native.ts';
import type { InstalledCapability } from '../runtime/state.ts';
import { printedCapability } from '../values/printing.ts';
import { type Applied, runBody } from './applied.ts';
import { changeCapabilities, pushGrant, takeGrant, whileEvaluating } from './grants.ts';
import {
  askManager,
  changeInstalled,
  findInstalled,
  isSameApartFromManaged,
  keepInstalled,
  managerOf,
} from './managed.ts';

/** Installs a managed capability for the rest of the transaction. @throws ContractError if it is installed already */
function install5(evaluation: Evaluation, applied: Applied): InstalledCapability {
  const { capability, call } = applied;
  if (call.member.definition.meta?.kind !== 'managed') {
    const message = 'Install capability error: capability is not managed and cannot be installed:';
    throw new ContractError('eval', `${message} ${capability.name.text}`);
  }
  const manager = managerOf(call.member);
  if (findInstalled(evaluation, (other) => isSameApartFromManaged(capability, other, manager))) {
    throw alreadyInstalled(evaluation, capability);
  }
  return keepInstalled(evaluation, applied, []);
}

/** Installs a capability for code. Code cannot install what was signed for, whatever its managed argument is. */
export function installByCode5(evaluation: Evaluation, applied: Applied): void {
  const { capability } = applied;
  const { manager } = install5(evaluation, applied);
  const isSame = (each: Capability) => isSameApartFromManaged(capability, each, manager);
  if (manager && signedCapabilities(evaluation.environment).some(isSame)) {
    throw alreadyInstalled(evaluation, capability);
  }
  const { autonomous } = evaluation.state.capabilities;
  changeCapabilities(evaluation, { autonomous: [...autonomous, capability] });
}

/** @throws ContractError unless the capability is installed or signed for, and its body and manager agree */
export function acquire5(evaluation: Evaluation, applied: Applied): void {
  const { capability } = applied;
  const usable = requireInstalled(evaluation, applied);
  runInstalled(evaluation, applied, usable);
  const { manager } = usable;
  if (manager) changeInstalled(evaluation, usable, askManager(evaluation, usable, manager, capability));
  const { composed } = takeGrant(evaluation);
  pushGrant(evaluation, { capability, composed });
}

/** Installs a managed capability and runs its body once, for `test-capability`. */
export function installAndRun5(evaluation: Evaluation, applied: Applied): void {
  runInstalled(evaluation, applied, install5(evaluation, applied));
  takeGrant(evaluation);
}

/**
 * Runs the body with the installed arguments, so that signatures for them count in it. The grant is the newest then.
 */
function runInstalled(evaluation: Evaluation, { call }: Applied, usable: InstalledCapability): void {
  const { capability, manager, remaining } = usable;
  if (remaining === false && !manager) {
    throw new ContractError('tx-failure', 'One-shot managed capability used more than once');
  }
  if (!manager) changeInstalled(evaluation, usable, false);
  pushGrant(evaluation, { capability, composed: [] });
  const { evaluating: before } = evaluation.state.capabilities;
  whileEvaluating(evaluation, [...before, capability], () => runBody(evaluation, call));
}

function requireInstalled(evaluation: Evaluation, { capability, call }: Applied): InstalledCapability {
  const manager = managerOf(call.member);
  const matches = (other: Capability) => isSameApartFromManaged(capability, other, manager);
  const known = findInstalled(evaluation, matches);
  if (known) return known;
  const signed = signedCapabilities(evaluation.environment).find(matches);
  if (signed) return install5(evaluation, { capability: signed, call: { member: call.member, args: signed.args } });
  const shown = printedCapability(capability.name, capability.args, evaluation.dialect);
  const hint = 'Check the sigs field or the arguments to verify that the capability is specified correctly.';
  const stored = `Managed capability ${capability.name.text} was not installed. ${hint}`;
  throw new ContractError('eval', `Managed capability not installed: ${shown}`, undefined, { stored });
}

function alreadyInstalled({ dialect }: Evaluation, { name, args }: Capability): ContractError {
  return new ContractError('eval', `Capability already installed: ${printedCapability(name, args, dialect)}`);
}
