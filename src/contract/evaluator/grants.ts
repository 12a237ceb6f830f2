/** Which capabilities are held. */

import { areEqual } from '../values/values.ts';
import type { Capability } from './environment.ts';
import type { Capabilities, State } from './state.ts';

/** Whether two capabilities have the same name and equal arguments. */
export function isSame(a: Capability, b: Capability): boolean {
  return a.name.text === b.name.text && areEqual(a.args, b.args);
}

export function includesCapability(all: readonly Capability[], capability: Capability): boolean {
  return all.some((each) => isSame(each, capability));
}

/** @returns those that were acquired, with those that they have brought along */
export function heldCapabilities({ grants }: Capabilities): readonly Capability[] {
  return grants.flatMap(({ capability, composed }) => [capability, ...composed]);
}

export function isHeld({ capabilities }: State, capability: Capability): boolean {
  return includesCapability(heldCapabilities(capabilities), capability);
}
