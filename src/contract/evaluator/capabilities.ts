/** Capabilities: what code may do as long as it holds them. */

import { ContractError, type Position } from '../errors.ts';
import type { Defcap } from '../syntax/tree.ts';
import { printedCapability } from '../values/printing.ts';
import { areEqual, type Value } from '../values/values.ts';
import type { Capability } from './environment.ts';
import { emit } from './events.ts';
import {
  changeCapabilities,
  includesCapability,
  isHeld,
  isSame,
  pushGrant,
  takeGrant,
  whileEvaluating,
} from './grants.ts';
import { requireModuleRights, storable } from './guards.ts';
import { Member, textOfName } from './module.ts';
import type { Evaluation, MemberCall } from './native.ts';
import { type CapabilityManager, findFrame, type InstalledCapability } from './state.ts';

/** A capability with its definition and the values of its arguments, as code writes it. */
export interface Applied {
  readonly capability: Capability;
  readonly call: MemberCall & { readonly member: Member<Defcap> };
}

/** @param call what stands where a capability must stand */
export function appliedCapability(
  evaluation: Evaluation,
  call: MemberCall | undefined,
  position: Position | undefined,
): Applied {
  if (!call) throw new ContractError('eval', 'Can only apply defcap here', position);
  const { member, args } = call;
  if (!member.is('defcap')) {
    throw new ContractError('eval', `Can only apply defcap here, found: ${member.definition.kind}`, position);
  }
  evaluation.checkArguments(call, position);
  const capability = { name: member.name, args: storable(evaluation, args, 'Invalid capability argument') };
  return { capability, call: { member, args } };
}

/** Runs code that holds the capability. The module that defines it must run, or its governance agree. */
export function withCapability(
  evaluation: Evaluation,
  call: MemberCall,
  position: Position | undefined,
  run: () => Value,
): Value {
  refuseInCapability(evaluation, 'with-capability');
  const applied = appliedCapability(evaluation, call, position);
  requireModuleRights(evaluation, applied.call.member.module);
  const isNew = whileEvaluating(evaluation, [applied.capability], () => acquire(evaluation, applied));
  const value = run();
  if (isNew) takeGrant(evaluation);
  return value;
}

/** Acquires a capability for the rest of the transaction, or installs one that is managed. */
export function grantForTransaction(evaluation: Evaluation, applied: Applied): 'acquired' | 'already' | 'installed' {
  const { capability, call } = applied;
  if (call.member.definition.meta?.kind === 'managed') {
    whileEvaluating(evaluation, [capability], () => install(evaluation, applied));
    return 'installed';
  }
  return whileEvaluating(evaluation, [capability], () => acquire(evaluation, applied)) ? 'acquired' : 'already';
}

/** Acquires a capability along with the one whose body runs. */
export function composeCapability(evaluation: Evaluation, applied: Applied): void {
  if (evaluation.context.frame?.member.definition.kind !== 'defcap') {
    throw new ContractError('eval', 'compose-capability valid only within defcap body');
  }
  requireModuleRights(evaluation, applied.call.member.module);
  const { evaluating: before } = evaluation.state.capabilities;
  whileEvaluating(evaluation, [...before, applied.capability], () => {
    if (!acquire(evaluation, applied)) return;
    const { capability, composed } = takeGrant(evaluation);
    const outer = takeGrant(evaluation);
    // Each one that it has composed is copied.
    evaluation.spend(outer.composed.length + composed.length);
    pushGrant(evaluation, { ...outer, composed: [...outer.composed, capability, ...composed] });
  });
}

/** @throws ContractError for code of a capability, which must not decide over others */
export function refuseInCapability(evaluation: Evaluation, what: string): void {
  const isInside = findFrame(evaluation.context.frame, ({ member }) => member.definition.kind === 'defcap');
  if (!isInside) return;
  const message =
    evaluation.dialect === 4 ? `${what} not allowed within defcap execution` : `Form illegal within defcap ${what}`;
  throw new ContractError('eval', message);
}

/** Notes that code wants a managed capability, which is installed when it is first acquired. */
export function announce(evaluation: Evaluation, applied: Applied): void {
  const { capability } = applied;
  const { autonomous } = evaluation.state.capabilities;
  evaluation.spend(autonomous.length);
  if (evaluation.dialect === 5) refuseAnnouncement(evaluation, applied);
  if (!includesCapability(autonomous, capability)) {
    changeCapabilities(evaluation, { autonomous: [...autonomous, capability] });
  }
}

/** Dialect 5 refuses what can be acquired already. */
function refuseAnnouncement(evaluation: Evaluation, { capability, call }: Applied): void {
  const { meta } = call.member.definition;
  if (meta?.kind !== 'managed') {
    const message = 'Install capability error: capability is not managed and cannot be installed';
    throw new ContractError('eval', `${message}: ${capability.name.text}`);
  }
  const manager = managerOf(call.member);
  const { installed, autonomous } = evaluation.state.capabilities;
  const signed = manager ? evaluation.environment.signatures.flatMap(({ capabilities }) => capabilities) : [];
  const others = [...installed.map((each) => each.capability), ...autonomous, ...signed];
  if (others.some((other) => hasSameStatics(capability, other, manager))) {
    throw alreadyInstalled(evaluation, capability);
  }
}

function alreadyInstalled({ dialect }: Evaluation, { name, args }: Capability): ContractError {
  const what = dialect === 4 ? 'Duplicate install of managed capability' : 'Capability already installed:';
  return new ContractError('eval', `${what} ${printedCapability(name, args, dialect)}`);
}

/* Acquiring. */

/** Steps that an acquisition counts as, since it changes the state several times. */
const ACQUISITION_STEPS = 16;

/** @returns whether it was not held before: then it is on top of the grants now */
function acquire(evaluation: Evaluation, applied: Applied): boolean {
  const { capability, call } = applied;
  evaluation.spend(ACQUISITION_STEPS);
  if (isHeld(evaluation, capability)) return false;
  const { meta } = call.member.definition;
  if (meta?.kind === 'managed') {
    const composed = approve(evaluation, applied);
    emit(evaluation, capability, call.member.module);
    pushGrant(evaluation, { capability, composed });
    return true;
  }
  pushGrant(evaluation, { capability, composed: [] });
  runBody(evaluation, call);
  if (meta?.kind === 'event') emit(evaluation, capability, call.member.module);
  return true;
}

function runBody(evaluation: Evaluation, call: Applied['call']): void {
  evaluation.gas.call(call.member.definition.name);
  evaluation.inFrame(call, undefined, (scope) => evaluation.evaluateBody(call.member.definition.body, scope));
}

/* Managed capabilities. */

/** @returns what the capability brings along @throws ContractError unless it is installed and its manager agrees */
function approve(evaluation: Evaluation, applied: Applied): readonly Capability[] {
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
  const remaining = manager ? spend(evaluation, usable, manager, capability) : fire(evaluation, usable);
  // The manager may have installed others.
  changeCapabilities(evaluation, {
    installed: evaluation.state.capabilities.installed.map((each) =>
      each.capability === usable.capability ? { ...usable, remaining } : each,
    ),
  });
  return usable.composed;
}

function fire({ dialect }: Evaluation, { remaining }: InstalledCapability): Value {
  if (remaining === true) return false;
  throw new ContractError(
    dialect === 4 ? 'eval' : 'tx-failure',
    dialect === 4 ? 'Capability already fired' : 'One-shot managed capability used more than once',
  );
}

function spend(
  evaluation: Evaluation,
  { remaining }: InstalledCapability,
  { function: member, parameter }: CapabilityManager,
  { args }: Capability,
): Value {
  const left = evaluation.applyValue(member, [remaining, args[parameter]]);
  storable(evaluation, [left], 'Invalid return value from mgr function');
  return left;
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
function install(evaluation: Evaluation, { capability, call }: Applied): InstalledCapability {
  const manager = managerOf(call.member);
  if (evaluation.state.capabilities.installed.some((each) => hasSameStatics(capability, each.capability, manager))) {
    throw alreadyInstalled(evaluation, capability);
  }
  pushGrant(evaluation, { capability, composed: [] });
  runBody(evaluation, call);
  const { composed } = takeGrant(evaluation);
  const remaining = manager ? capability.args[manager.parameter] : true;
  const installed = { capability, composed, definition: call.member, manager, remaining };
  changeCapabilities(evaluation, { installed: [...evaluation.state.capabilities.installed, installed] });
  return installed;
}

/** Whether all arguments are equal but the managed one. */
function hasSameStatics(a: Capability, b: Capability, manager: CapabilityManager | undefined): boolean {
  if (!manager) return isSame(a, b);
  if (a.name.text !== b.name.text || a.args.length !== b.args.length) return false;
  return a.args.every((value, at) => at === manager.parameter || areEqual(value, b.args[at]));
}

function managerOf(member: Member<Defcap>): CapabilityManager | undefined {
  const { meta, parameters } = member.definition;
  if (meta?.kind !== 'managed' || !meta.manager) return undefined;
  const { parameter: name, function: written } = meta.manager;
  const parameter = parameters.findIndex((each) => each.name === name);
  if (parameter < 0) throw new ContractError('eval', `Invalid managed argument name: ${name}`);
  const manager = member.module.names.find(textOfName(written));
  if (manager instanceof Member && manager.is('defun')) return { function: manager, parameter };
  throw new ContractError('eval', 'Capability manager ref must be a function');
}
