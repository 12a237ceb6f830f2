/** Events, which a transaction emits for readers outside of the chain. */

import { ContractError } from '../errors.ts';
import { LANGUAGE_MODULE, QualifiedName } from '../names.ts';
import type { Capability } from '../runtime/environment.ts';
import { requireModule } from '../runtime/lookup.ts';
import type { LoadedModule } from '../runtime/module.ts';
import type { Evaluation } from '../runtime/native.ts';
import type { Value } from '../values/values.ts';
import { callingModule } from './guards.ts';

/** @throws ContractError unless code of the capability's module runs */
export function emit(evaluation: Evaluation, { name, args }: Capability, module: LoadedModule): void {
  const caller = callingModule(evaluation);
  if (!caller && evaluation.dialect === 4) {
    if (evaluation.environment.flags.has('DisablePactEvents')) return;
    throw new ContractError('eval', 'Unable to resolve current calling module');
  }
  if (caller?.name.text !== module.name.text) {
    const other = (caller ?? module).name.text;
    const message4 = `emitEvent: event '${name.text}' does not match emitting module: ${other}`;
    const message5 = `Emitted event does not match module: ${other}`;
    throw new ContractError('eval', evaluation.dialect === 4 ? message4 : message5);
  }
  append(evaluation, name, args, evaluation.dialect === 4 ? caller.hash : hashOf(evaluation, module));
}

/** Emits the event of a capability that was acquired. */
export function emitAcquired(evaluation: Evaluation, capability: Capability, module: LoadedModule): void {
  if (evaluation.dialect === 4) emit(evaluation, capability, module);
  else append(evaluation, capability.name, capability.args, hashOf(evaluation, module));
}

/** In dialect 5, the hash is that of the module's version that was there when the emitting code was loaded. */
function hashOf(evaluation: Evaluation, module: LoadedModule): string {
  const isNewest = evaluation.environment.flags.has('EnableLegacyEventHashes');
  return (isNewest ? requireModule(evaluation, module.name) : module).hash;
}

/** Emits an event of the language itself, such as `X_YIELD`. @param moduleHash of the module that has yielded */
export function emitReserved(evaluation: Evaluation, name: string, args: readonly Value[], moduleHash: string): void {
  append(evaluation, new QualifiedName(LANGUAGE_MODULE, name), args, moduleHash);
}

/** Number of references to events that are copied in the time of one step. */
const COPIES_PER_STEP = 8;

function append(evaluation: Evaluation, name: QualifiedName, args: readonly Value[], moduleHash: string): void {
  if (evaluation.environment.flags.has('DisablePactEvents')) return;
  const { state } = evaluation;
  evaluation.spend(Math.ceil(state.events.length / COPIES_PER_STEP));
  evaluation.kept?.addEntry(args);
  evaluation.state = { ...state, events: [...state.events, { name, args, moduleHash }] };
}
