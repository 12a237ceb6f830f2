/** Guards: who has signed, whose code runs, and who governs a module. */

import { ContractError } from '../errors.ts';
import type { ModuleName } from '../names.ts';
import {
  type Guard,
  isStorable,
  type KeysetGuard,
  type Storable,
  type UserGuard,
  type Value,
} from '../values/values.ts';
import type { Capability, Signature } from './environment.ts';
import { heldCapabilities, includesCapability, isHeld } from './grants.ts';
import { requireModule } from './lookup.ts';
import { isInterface, type LoadedModule, Member } from './module.ts';
import type { Evaluation } from './native.ts';
import { findFrame } from './state.ts';

/** @throws ContractError unless the guard agrees */
export function enforceGuard(evaluation: Evaluation, guard: Guard): void {
  switch (guard.kind) {
    case 'keyset':
      enforceKeyset(evaluation, guard);
      return;
    case 'keyset-ref':
      enforceNamedKeyset(evaluation, guard.name);
      return;
    case 'module':
      enforceModule(evaluation, guard.module);
      return;
    case 'flow':
      enforceFlow(evaluation, guard.flowId, 'eval');
      return;
    case 'user':
      enforceUserGuard(evaluation, guard);
      return;
    case 'capability': {
      if (guard.flowId !== undefined) enforceFlow(evaluation, guard.flowId, 'tx-failure');
      const capability = { name: guard.name, args: guard.args };
      if (!isHeld(evaluation.state, capability)) throw new ContractError('tx-failure', 'Capability not acquired');
    }
  }
}

/* Keysets. */

const BUILT_IN: Readonly<Record<string, (count: number, matched: number) => boolean>> = {
  'keys-all': (count, matched) => matched >= count,
  'keys-any': (_, matched) => matched >= 1,
  'keys-2': (_, matched) => matched >= 2,
};

export function isBuiltInPredicate(name: string): boolean {
  return Object.hasOwn(BUILT_IN, name);
}

/** @param name of a keyset that was defined @throws ContractError if there is none, or if too few of its keys signed */
export function enforceNamedKeyset(evaluation: Evaluation, name: string): void {
  enforceKeyset(evaluation, requireKeyset(evaluation, name), name);
}

export function requireKeyset({ database, dialect }: Evaluation, name: string): KeysetGuard {
  const keyset = database.keysets.get(name);
  if (keyset) return keyset;
  throw new ContractError(
    'eval',
    dialect === 4 ? `No such keyset: '${name}` : `Cannot find keyset in database: '${name}`,
  );
}

function enforceKeyset(evaluation: Evaluation, keyset: KeysetGuard, name?: string): void {
  const { keys, predicate } = keyset;
  const signed = countingSignatures(evaluation).filter(({ key }) => keys.includes(key)).length;
  const agrees = isBuiltInPredicate(predicate)
    ? BUILT_IN[predicate](keys.length, signed)
    : evaluation.within({ access: 'none' }, () => asksPredicate(evaluation, predicate, keys.length, signed));
  if (agrees) return;
  const shown = name === undefined ? shownKeys(keys, evaluation) : `'${name}`;
  throw new ContractError('tx-failure', `Keyset failure (${predicate}): ${shown}`);
}

function asksPredicate(evaluation: Evaluation, predicate: string, count: number, signed: number): boolean {
  const member = requireFunction(evaluation, predicate);
  const answer = evaluation.applyValue(member, [BigInt(count), BigInt(signed)]);
  if (typeof answer === 'boolean') return answer;
  throw new ContractError('eval', `Invalid response from keyset predicate: ${evaluation.print(answer)}`);
}

const SHOWN_KEY_LENGTH = 8;

function shownKeys(keys: readonly string[], { dialect }: Evaluation): string {
  const shown = keys.map((key) =>
    dialect === 4 && key.length < SHOWN_KEY_LENGTH ? key : `${key.slice(0, SHOWN_KEY_LENGTH)}...`,
  );
  return `[${shown.join(', ')}]`;
}

/**
 * A signature for certain capabilities counts where one of them is at work. One for everything counts unless code has
 * installed capabilities by itself: whoever signed for everything has not agreed to those.
 */
function countingSignatures({ environment, state }: Evaluation): readonly Signature[] {
  const { autonomous, evaluating } = state.capabilities;
  const isOlderRule = environment.flags.has('DisablePact412') || evaluating.length === 0;
  const atWork = isOlderRule ? heldCapabilities(state.capabilities) : evaluating;
  return environment.signatures.filter(({ capabilities }) =>
    capabilities.length === 0
      ? autonomous.length === 0
      : capabilities.some((capability: Capability) => includesCapability(atWork, capability)),
  );
}

/* Functions as guards. */

/** @throws ContractError unless a function of this name can be called from here */
function requireFunction(evaluation: Evaluation, name: string): Member {
  const member = evaluation.transactionNames.find(name);
  if (member instanceof Member) return member;
  throw new ContractError('eval', evaluation.dialect === 4 ? `Cannot resolve ${name}` : `Unbound variable ${name}`);
}

function enforceUserGuard(evaluation: Evaluation, { fun, args }: UserGuard): void {
  const member = requireFunction(evaluation, fun.text);
  if (findFrame(evaluation.context.frame, (frame) => frame.member.name.text === member.name.text)) {
    throw new ContractError('eval', `evalByName: loop detected: ${fun.text}`);
  }
  evaluation.within({ access: 'none' }, () => evaluation.applyValue(member, args));
}

/* Modules and flows. */

function enforceFlow({ context, state }: Evaluation, id: string, kind: 'eval' | 'tx-failure'): void {
  const current = context.step ? state.flow : undefined;
  if (current?.id === id) return;
  if (!current) throw new ContractError('eval', 'pact-id: not in pact execution');
  const message = kind === 'eval' ? `Pact guard failed, intended: ${id}, active: ${current.id}` : 'Invalid Pact ID';
  throw new ContractError(kind, message);
}

function enforceModule(evaluation: Evaluation, name: ModuleName): void {
  const module = requireModule(evaluation, name);
  if (isInterface(module)) throw new ContractError('eval', `ModuleGuard not allowed on interface: ${name.text}`);
  const isCaller = findFrame(evaluation.context.frame, ({ member }) => isSameModule(member.module, module));
  if (!isCaller) administer(evaluation, module);
}

function isSameModule(a: LoadedModule, b: LoadedModule): boolean {
  return a.name.text === b.name.text;
}

/** @returns the module whose code runs; undefined for code outside of modules */
export function callingModule({ context }: Evaluation): LoadedModule | undefined {
  return context.frame?.member.module;
}

/** @throws ContractError unless the code of the module runs, or who governs it agrees */
export function requireModuleRights(evaluation: Evaluation, module: LoadedModule): void {
  const caller = callingModule(evaluation);
  if (caller && isSameModule(caller, module)) return;
  // Code has to ask for the rights itself in dialect 5.
  if (evaluation.dialect === 5 && !evaluation.state.administered.has(module.name.text)) {
    const message = `Module admin necessary for operation but has not been acquired:${module.name.text}`;
    throw new ContractError('eval', message);
  }
  administer(evaluation, requireModule(evaluation, module.name));
}

/** Asks the governance of a module, once in a transaction. @throws ContractError unless it agrees */
export function administer(evaluation: Evaluation, module: LoadedModule): void {
  if (evaluation.state.administered.has(module.name.text)) return;
  enforceGovernance(evaluation, module);
  grantAdministration(evaluation, module.name);
}

export function grantAdministration(evaluation: Evaluation, name: ModuleName): void {
  const administered = new Set(evaluation.state.administered).add(name.text);
  evaluation.state = { ...evaluation.state, administered };
}

function enforceGovernance(evaluation: Evaluation, module: LoadedModule): void {
  if (isInterface(module)) throw new ContractError('eval', 'Interfaces have no governance');
  const { syntax } = module;
  if (syntax.kind !== 'module') return;
  const { governance } = syntax;
  if (governance.kind === 'keyset') {
    enforceNamedKeyset(evaluation, governance.name);
    return;
  }
  const member = module.members.get(governance.name);
  if (!member?.is('defcap')) throw new ContractError('eval', 'enforceModuleAdmin: module governance must be defcap');
  evaluation.inFrame({ member, args: [] }, undefined, (scope) =>
    evaluation.evaluateBody(member.definition.body, scope),
  );
}

/** @returns the values @throws ContractError if one of them cannot be stored */
export function storable(values: readonly Value[], what = 'Only value-level terms permitted'): readonly Storable[] {
  return values.map((value) => {
    if (isStorable(value)) return value;
    throw new ContractError('eval', `${what}: ${value}`);
  });
}
