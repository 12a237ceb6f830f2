/** Events, which a transaction emits for readers outside of the chain. */

import { ContractError } from '../errors.ts';
import { LANGUAGE_MODULE, QualifiedName } from '../names.ts';
import type { Capability } from '../runtime/environment.ts';
import { requireModule } from '../runtime/lookup.ts';
import type { LoadedModule } from '../runtime/module.ts';
import type { Evaluator } from '../runtime/native.ts';
import type { Value } from '../values/values.ts';
import { callingModule } from './guards.ts';

/** @throws ContractError unless code of the capability's module runs */
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

/** Emits the event of a capability that was acquired. */
export function emitAcquired(evaluator: Evaluator, capability: Capability, module: LoadedModule): void {
  if (evaluator.dialect === 4) emit(evaluator, capability, module);
  else append(evaluator, capability.name, capability.args, hashOf(evaluator, module));
}

/**
 * For dialect 5.
 * @returns the hash of the module's version with which the emitting code was loaded; with the flag
 *   `EnableLegacyEventHashes`, the hash of the newest version
 */
function hashOf(evaluator: Evaluator, module: LoadedModule): string {
  const isNewest = evaluator.environment.flags.has('EnableLegacyEventHashes');
  return (isNewest ? requireModule(evaluator, module.name) : module).hash;
}

/**
 * Emits an event of the language itself, such as `X_YIELD`.
 * @param moduleHash the hash of the module that has yielded
 */
export function emitReserved(evaluator: Evaluator, name: string, args: readonly Value[], moduleHash: string): void {
  append(evaluator, new QualifiedName(LANGUAGE_MODULE, name), args, moduleHash);
}

/** Number of copied references to events for which one step is counted. */
const COPIES_PER_STEP = 8;

function append(evaluator: Evaluator, name: QualifiedName, args: readonly Value[], moduleHash: string): void {
  if (evaluator.environment.flags.has('DisablePactEvents')) return;
  const { state } = evaluator;
  evaluator.spend(Math.ceil(state.events.length / COPIES_PER_STEP));
  evaluator.kept?.addEntry(args);
  evaluator.state = { ...state, events: [...state.events, { name, args, moduleHash }] };
}
