/** Events: what a transaction tells the world. */

import { ContractError } from '../errors.ts';
import { LANGUAGE_MODULE, QualifiedName } from '../names.ts';
import type { Value } from '../values/values.ts';
import type { Capability } from './environment.ts';
import { callingModule } from './guards.ts';
import type { LoadedModule } from './module.ts';
import type { Evaluation } from './native.ts';

/** @throws ContractError unless code of the capability's module runs */
export function emit(evaluation: Evaluation, { name, args }: Capability, module: LoadedModule): void {
  const caller = callingModule(evaluation);
  if (!caller && evaluation.environment.flags.has('DisablePactEvents')) return;
  if (caller?.name.text !== module.name.text) {
    if (evaluation.dialect === 5) {
      throw new ContractError('eval', `Emitted event does not match module: ${module.name.text}`);
    }
    if (!caller) throw new ContractError('eval', 'Unable to resolve current calling module');
    const message = `emitEvent: event '${name.text}' does not match emitting module: ${caller.name.text}`;
    throw new ContractError('eval', message);
  }
  append(evaluation, name, args, caller.hash);
}

/** @param moduleHash of the module that has yielded */
export function emitReserved(evaluation: Evaluation, name: string, args: readonly Value[], moduleHash: string): void {
  append(evaluation, new QualifiedName(LANGUAGE_MODULE, name), args, moduleHash);
}

/** How many references are copied in the time of one step. */
const COPIES_PER_STEP = 64;

function append(evaluation: Evaluation, name: QualifiedName, args: readonly Value[], moduleHash: string): void {
  if (evaluation.environment.flags.has('DisablePactEvents')) return;
  const { state } = evaluation;
  evaluation.spend(Math.ceil(state.events.length / COPIES_PER_STEP));
  evaluation.state = { ...state, events: [...state.events, { name, args, moduleHash }] };
}
