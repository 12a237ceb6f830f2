/** Applications of capabilities, as code writes them: `(CAP 1 "a")`. */

import { ContractError, type Position } from '../errors.ts';
import type { Capability } from '../runtime/environment.ts';
import type { Member } from '../runtime/module.ts';
import type { Evaluator, MemberCall } from '../runtime/native.ts';
import type { Defcap } from '../syntax/tree.ts';
import { storable } from './guards.ts';

/** A capability with its definition and the values of its arguments. */
export interface Applied {
  readonly capability: Capability;
  readonly call: MemberCall & { readonly member: Member<Defcap> };
}

/**
 * @param call undefined if the code is not an application
 * @throws ContractError unless the call is of a capability, with valid arguments
 */
export function appliedCapability(
  evaluator: Evaluator,
  call: MemberCall | undefined,
  position: Position | undefined,
): Applied {
  if (!call) throw new ContractError('eval', 'Can only apply defcap here', position);
  const { member, args } = call;
  if (!member.is('defcap')) {
    throw new ContractError('eval', `Can only apply defcap here, found: ${member.definition.kind}`, position);
  }
  evaluator.checkArguments(call, position);
  const capability = { name: member.name, args: storable(evaluator, args, 'Invalid capability argument') };
  return { capability, call: { member, args } };
}

export function runBody(evaluator: Evaluator, call: Applied['call']): void {
  evaluator.gas.call(call.member.definition.name);
  evaluator.inFrame(call, undefined, (scope) => evaluator.evaluateBody(call.member.definition.body, scope));
}
