/**
 * Managed capabilities of dialect 5. Each acquisition runs the body of the capability, and then calls its manager
 * function, if there is one.
 */

import { ContractError } from '../errors.ts';
import { type Capability, signedCapabilities } from '../runtime/environment.ts';
import type { Evaluator } from '../runtime/native.ts';
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

/**
 * Installs a managed capability until the end of the transaction.
 * @throws ContractError if the capability is not managed, or if it is installed already, perhaps with another managed
 *   argument
 */
function install5(evaluator: Evaluator, applied: Applied): InstalledCapability {
  const { capability, call } = applied;
  if (call.member.definition.meta?.kind !== 'managed') {
    const message = 'Install capability error: capability is not managed and cannot be installed:';
    throw new ContractError('eval', `${message} ${capability.name.text}`);
  }
  const manager = managerOf(call.member);
  if (findInstalled(evaluator, (other) => isSameApartFromManaged(capability, other, manager))) {
    throw alreadyInstalled(evaluator, capability);
  }
  return keepInstalled(evaluator, applied, []);
}

/**
 * The native `install-capability`.
 * @throws ContractError as `install5`. For a capability with a manager function, also if a signature is limited to this
 *   capability, perhaps with another managed argument
 */
export function installByCode5(evaluator: Evaluator, applied: Applied): void {
  const { capability } = applied;
  const { manager } = install5(evaluator, applied);
  const isSame = (each: Capability) => isSameApartFromManaged(capability, each, manager);
  if (manager && signedCapabilities(evaluator.environment).some(isSame)) {
    throw alreadyInstalled(evaluator, capability);
  }
  const { autonomous } = evaluator.state.capabilities;
  changeCapabilities(evaluator, { autonomous: [...autonomous, capability] });
}

/**
 * Acquires a managed capability. Its grant is then the newest.
 * @throws ContractError if the capability is neither installed nor signed for, if its body or its manager function
 *   fails, or if a capability without a manager function is acquired again
 */
export function acquire5(evaluator: Evaluator, applied: Applied): void {
  const { capability } = applied;
  const usable = requireInstalled(evaluator, applied);
  const { manager } = usable;
  runInstalled(evaluator, applied, usable, () => {
    if (manager) changeInstalled(evaluator, usable, askManager(evaluator, usable, manager, capability));
  });
  const { composed } = takeGrant(evaluator);
  pushGrant(evaluator, { capability, composed });
}

/**
 * Installs a managed capability and runs its body once, for `test-capability`. Afterwards, the capability is not held.
 * @throws ContractError as `install5`, and if the body fails
 */
export function installAndRun5(evaluator: Evaluator, applied: Applied): void {
  runInstalled(evaluator, applied, install5(evaluator, applied), () => {});
  takeGrant(evaluator);
}

/**
 * Runs the body of an installed capability with the arguments of the application, and then an action. Meanwhile, the
 * capability counts as held and evaluated with the arguments with which it was installed, so that signatures for those
 * arguments count. Afterwards, the grant of the capability is the newest.
 * @throws ContractError if the body fails, or if a capability without a manager function is used again
 */
function runInstalled(evaluator: Evaluator, { call }: Applied, usable: InstalledCapability, finish: () => void): void {
  const { capability, manager, remaining } = usable;
  if (remaining === false && !manager) {
    throw new ContractError('tx-failure', 'One-shot managed capability used more than once');
  }
  if (!manager) changeInstalled(evaluator, usable, false);
  pushGrant(evaluator, { capability, composed: [] });
  const { evaluating: before } = evaluator.state.capabilities;
  whileEvaluating(evaluator, [...before, capability], () => {
    runBody(evaluator, call);
    finish();
  });
}

/**
 * Finds the installed capability. If there is none, first installs the capability that a signature is limited to.
 * @returns the installed capability
 * @throws ContractError if the capability is neither installed nor signed for
 */
function requireInstalled(evaluator: Evaluator, { capability, call }: Applied): InstalledCapability {
  const manager = managerOf(call.member);
  const matches = (other: Capability) => isSameApartFromManaged(capability, other, manager);
  const known = findInstalled(evaluator, matches);
  if (known) return known;
  const signed = signedCapabilities(evaluator.environment).find(matches);
  if (signed) return install5(evaluator, { capability: signed, call: { member: call.member, args: signed.args } });
  const shown = printedCapability(capability.name, capability.args, evaluator.dialect);
  const hint = 'Check the sigs field or the arguments to verify that the capability is specified correctly.';
  const stored = `Managed capability ${capability.name.text} was not installed. ${hint}`;
  throw new ContractError('eval', `Managed capability not installed: ${shown}`, undefined, { stored });
}

function alreadyInstalled({ dialect }: Evaluator, { name, args }: Capability): ContractError {
  return new ContractError('eval', `Capability already installed: ${printedCapability(name, args, dialect)}`);
}
