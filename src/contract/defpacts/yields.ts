/**
 * Yields and resumes. A yield is an object that a step of a defpact passes to the next step, which may run on another
 * chain.
 */

import { storable } from '../capabilities/applied.ts';
import { emitReserved } from '../capabilities/emitted-events.ts';
import { ContractError } from '../errors.ts';
import type { DefpactState, Provenance, Yield } from '../runtime/defpact-state.ts';
import { callingModule, requireModule } from '../runtime/lookup.ts';
import type { LoadedModule } from '../runtime/module.ts';
import type { Evaluator } from '../runtime/native.ts';
import { type ContractObject, type StorableObject, sortedObject } from '../values/values.ts';
import { DefpactFaults } from './defpact-faults.ts';

/**
 * @returns the object with its keys in the order of code points
 * @throws ContractError if the value of a key cannot be stored
 */
export function storableObject(evaluator: Evaluator, object: ContractObject): StorableObject {
  const values = storable(evaluator, [...object.values()]);
  return sortedObject([...object.keys()].map((key, at) => [key, values[at]]));
}

/**
 * The native `yield`: passes an object to the next step of the current defpact.
 * @param targetChain the chain on which the next step must run; undefined for the same chain
 * @throws ContractError outside of defpacts, if the object cannot be stored, and for a yield to another chain in a step
 *   with a rollback
 */
export function yieldObject(evaluator: Evaluator, object: ContractObject, targetChain: string | undefined): void {
  const { dialect, state } = evaluator;
  const { defpact } = state;
  if (!defpact) throw new DefpactFaults(dialect).yieldOutside();
  const data = storableObject(evaluator, object);
  const yielded =
    targetChain === undefined
      ? { data, provenance: undefined, sourceChain: undefined }
      : foreignYield(evaluator, defpact, data, targetChain);
  evaluator.gas.yieldObject(data);
  evaluator.state = { ...state, defpact: { ...defpact, yielded } };
}

function foreignYield(evaluator: Evaluator, defpact: DefpactState, data: StorableObject, targetChain: string): Yield {
  const { dialect, environment } = evaluator;
  if (defpact.hasRollback) {
    const message = 'Cross-chain yield not allowed in step with rollback';
    const message5 = `Program encountered an unhandled raised error: ${message}`;
    throw new ContractError('eval', dialect === 4 ? message : message5);
  }
  const moduleHash = requireCallingModule(evaluator).hash;
  const sourceChain = environment.flags.has('DisablePact40') ? undefined : environment.chain.chainId;
  return { data, provenance: { targetChain, moduleHash }, sourceChain };
}

/**
 * The native `resume`.
 * @returns the object that the previous step has yielded
 * @throws ContractError if there is no yield. For a yield with a target chain, also as `enforceProvenance`
 */
export function resumedObject(evaluator: Evaluator): StorableObject {
  const { dialect, context } = evaluator;
  const resumed = context.step?.resumed;
  if (!resumed) throw new DefpactFaults(dialect).noYield(context.step);
  evaluator.gas.resume(resumed.data.size);
  if (resumed.provenance) enforceProvenance(evaluator, resumed.provenance);
  return resumed.data;
}

/**
 * @throws ContractError if the yield is for another chain, or was not made by the current version of the calling
 *   module. Since version 4.0, a version that the current version has blessed may also have made the yield
 */
function enforceProvenance(evaluator: Evaluator, provenance: Provenance): void {
  const { dialect, environment } = evaluator;
  const faults = new DefpactFaults(dialect);
  const { hash, blessed } = requireCallingModule(evaluator);
  const allowed = [hash, ...blessed].map((moduleHash) => ({ targetChain: environment.chain.chainId, moduleHash }));
  if (environment.flags.has('DisablePact40')) {
    if (!isSame(provenance, allowed[0])) throw faults.otherProvenance(provenance, allowed[0]);
  } else if (!allowed.some((each) => isSame(each, provenance))) {
    throw faults.wrongProvenance(provenance, allowed);
  }
}

function isSame(a: Provenance, b: Provenance): boolean {
  return a.targetChain === b.targetChain && a.moduleHash === b.moduleHash;
}

/** @returns the newest version of the module whose code runs @throws ContractError outside of modules */
function requireCallingModule(evaluator: Evaluator): LoadedModule {
  const module = callingModule(evaluator);
  if (module) return requireModule(evaluator, module.name);
  const message5 = 'Program encountered an unhandled raised error: no module call in stack';
  throw new ContractError('eval', evaluator.dialect === 4 ? 'Unable to resolve current calling module' : message5);
}

/**
 * Emits `X_RESUME` after a step whose resumed yield came from another chain, and `X_YIELD` after a step that has
 * yielded to another chain. One step can cause both events. Before version 4.0, there are no such events.
 * @param resumed the yield with which the step began; undefined for none
 * @param defpact the state of the defpact after the step
 */
export function emitChainEvents(evaluator: Evaluator, resumed: Yield | undefined, defpact: DefpactState): void {
  if (evaluator.environment.flags.has('DisablePact40')) return;
  const { name, args } = defpact.continuation;
  const emit = (event: string, chain: string, { moduleHash }: Provenance) =>
    emitReserved(evaluator, event, [chain, name.text, args], moduleHash);
  if (resumed?.provenance && resumed.sourceChain !== undefined) {
    emit('X_RESUME', resumed.sourceChain, resumed.provenance);
  }
  const { yielded } = defpact;
  if (yielded?.provenance) emit('X_YIELD', yielded.provenance.targetChain, yielded.provenance);
}
