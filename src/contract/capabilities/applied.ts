/** Applications of capabilities, which look like calls in code: `(CAP 1 "a")`. */

import { ContractError, type Position } from '../errors.ts';
import type { Capability } from '../runtime/environment.ts';
import type { Member } from '../runtime/module.ts';
import type { Evaluator, MemberCall } from '../runtime/native.ts';
import { SteppedWalk } from '../runtime/steps.ts';
import type { Defcap } from '../syntax/tree.ts';
import { isStorable, type Storable, type Value } from '../values/values.ts';

/** An application of a capability with evaluated and checked arguments. */
export interface Applied {
  /** The name of the capability, with the values of the arguments. */
  readonly capability: Capability;
  /** The definition of the capability, with the same values. */
  readonly call: MemberCall & { readonly member: Member<Defcap> };
}

/**
 * @param call as `Evaluator.capabilityOf` returns it
 * @throws ContractError if the call is undefined or calls no capability, if the number or a type of the arguments is
 *   wrong, or if an argument cannot be stored
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

/** Evaluates the body of a capability in a new frame, and charges gas for the call. */
export function runBody(evaluator: Evaluator, call: Applied['call']): void {
  evaluator.gas.call(call.member.definition.name);
  evaluator.inFrame(call, undefined, (scope) => evaluator.evaluateBody(call.member.definition.body, scope));
}

/**
 * @param what the beginning of the message
 * @returns the values
 * @throws ContractError if a value cannot be stored, or if the values have too many parts or too deep nesting
 */
export function storable(
  evaluator: Evaluator,
  values: readonly Value[],
  what = 'Only value-level terms permitted',
): readonly Storable[] {
  const walk = new SteppedWalk(evaluator);
  return values.map((value) => {
    if (isStorable(value, walk)) return value;
    throw new ContractError('eval', `${what}: ${value}`);
  });
}
