/** Emits events, which the result of a transaction shows to readers outside of the chain. */

import { ContractError } from '../errors.ts';
import { LANGUAGE_MODULE, QualifiedName } from '../names.ts';
import type { Capability } from '../runtime/environment.ts';
import { callingModule, requireModule } from '../runtime/lookup.ts';
import type { LoadedModule } from '../runtime/module.ts';
import type { Evaluator } from '../runtime/native.ts';
import type { Value } from '../values/values.ts';

/**
 * Emits the event of a capability, unless the flag `DisablePactEvents` is set.
 * @param module the module of the capability
 * @throws ContractError unless code of this module runs. With `DisablePactEvents`, dialect 4 does not refuse code
 *   outside of modules
 */
export function emit(evaluator: Evaluator, { name, args }: Capability, module: LoadedModule): void {
  const caller = callingModule(evaluator);
  if (!caller && evaluator.dialect === 4) {
    if (evaluator.environment.flags.has('DisablePactEvents')) return;
    throw new ContractError('eval', 'Unable to resolve current calling module');
  }
  if (caller?.name.text !== module.name.text) {
    const other = (caller ?? module).name.text;
    const message4 = `emitEvent: event '${name.text}' does not match emitting module: ${other}`;
    const message5 = `Emitted event does not match module: ${other}`;
    throw new ContractError('eval', evaluator.dialect === 4 ? message4 : message5);
  }
  append(evaluator, name, args, evaluator.dialect === 4 ? caller.hash : hashOf(evaluator, module));
}

/** Emits the event of an acquired capability. @throws ContractError in dialect 4, as `emit` */
export function emitAcquired(evaluator: Evaluator, capability: Capability, module: LoadedModule): void {
  if (evaluator.dialect === 4) emit(evaluator, capability, module);
  else append(evaluator, capability.name, capability.args, hashOf(evaluator, module));
}

/**
 * @returns for events of dialect 5, the hash of the module version to which the capability belongs; with the flag
 *   `EnableLegacyEventHashes`, the hash of the newest version of this module
 */
function hashOf(evaluator: Evaluator, module: LoadedModule): string {
  const isNewest = evaluator.environment.flags.has('EnableLegacyEventHashes');
  return (isNewest ? requireModule(evaluator, module.name) : module).hash;
}

/**
 * Emits an event that the language itself defines.
 * @param name the name without the module: `X_YIELD`
 * @param moduleHash the hash of the module that has yielded
 */
export function emitReserved(evaluator: Evaluator, name: string, args: readonly Value[], moduleHash: string): void {
  append(evaluator, new QualifiedName(LANGUAGE_MODULE, name), args, moduleHash);
}

/** Number of earlier events for which one step is counted, because the list of events is copied for each new event. */
const COPIES_PER_STEP = 8;

function append(evaluator: Evaluator, name: QualifiedName, args: readonly Value[], moduleHash: string): void {
  if (evaluator.environment.flags.has('DisablePactEvents')) return;
  const { state } = evaluator;
  evaluator.spend(Math.ceil(state.events.length / COPIES_PER_STEP));
  evaluator.kept?.addEntry(args);
  evaluator.state = { ...state, events: [...state.events, { name, args, moduleHash }] };
}
