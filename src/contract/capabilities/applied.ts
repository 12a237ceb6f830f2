/** Capabilities as code writes them: applied to arguments. */

import { ContractError, type Position } from '../errors.ts';
import type { Capability } from '../runtime/environment.ts';
import { Member, textOfName } from '../runtime/module.ts';
import type { Evaluation, MemberCall } from '../runtime/native.ts';
import type { CapabilityManager, InstalledCapability } from '../runtime/state.ts';
import type { Defcap } from '../syntax/tree.ts';
import { areEqual, type Value } from '../values/values.ts';
import { isSame } from './grants.ts';
import { storable } from './guards.ts';

/** A capability with its definition and the values of its arguments. */
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

export function runBody(evaluation: Evaluation, call: Applied['call']): void {
  evaluation.gas.call(call.member.definition.name);
  evaluation.inFrame(call, undefined, (scope) => evaluation.evaluateBody(call.member.definition.body, scope));
}

/** Whether all arguments are equal but the managed one. */
export function hasSameStatics(a: Capability, b: Capability, manager: CapabilityManager | undefined): boolean {
  if (!manager) return isSame(a, b);
  if (a.name.text !== b.name.text || a.args.length !== b.args.length) return false;
  return a.args.every((value, at) => at === manager.parameter || areEqual(value, b.args[at]));
}

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

/** Asks the manager. @returns what is left then @throws ContractError unless the manager agrees */
export function askManager(
  evaluation: Evaluation,
  { remaining }: InstalledCapability,
  { function: member, parameter }: CapabilityManager,
  { args }: Capability,
): Value {
  const left = evaluation.applyValue(member, [remaining, args[parameter]]);
  storable(evaluation, [left], 'Invalid return value from mgr function');
  return left;
}
