/** Enforces guards, and the rights of a module's own code and of its governance. */

import { ContractError, STORED_KEY_LENGTH, shortened } from '../errors.ts';
import { type ModuleName, QualifiedName } from '../names.ts';
import { limited } from '../runtime/access.ts';
import type { Capability, Signature } from '../runtime/environment.ts';
import { requireModule } from '../runtime/lookup.ts';
import { isInterface, type LoadedModule, Member } from '../runtime/module.ts';
import { type Evaluator, NativeFunction } from '../runtime/native.ts';
import { findFrame } from '../runtime/state.ts';
import { SteppedWalk } from '../runtime/steps.ts';
import {
  type CapabilityGuard,
  type Guard,
  isStorable,
  type KeysetGuard,
  type Storable,
  type UserGuard,
  type Value,
} from '../values/values.ts';
import { heldCapabilities, includesCapability, isHeld, whileEvaluating, whileHolding } from './grants.ts';

/** @throws ContractError unless the guard agrees */
export function enforceGuard(evaluator: Evaluator, guard: Guard): void {
  switch (guard.kind) {
    case 'keyset':
      enforceKeyset(evaluator, guard);
      return;
    case 'keyset-ref':
      enforceNamedKeyset(evaluator, guard.name);
      return;
    case 'module':
      enforceModule(evaluator, guard.module);
      return;
    case 'defpact':
      enforcePactId(evaluator, guard.pactId, `Pact guard failed, intended: ${guard.pactId}`);
      return;
    case 'user':
      enforceUserGuard(evaluator, guard);
      return;
    case 'capability':
      enforceCapabilityGuard(evaluator, guard);
  }
}

function enforceCapabilityGuard(evaluator: Evaluator, guard: CapabilityGuard): void {
  const { name, args, pactId } = guard;
  if (pactId !== undefined) enforcePactId(evaluator, pactId);
  if (isHeld(evaluator, { name, args })) return;
  const message = 'Capability not acquired';
  throw new ContractError('tx-failure', evaluator.dialect === 4 ? message : `${message}: ${evaluator.print(guard)}`);
}

/* Keysets. */

const BUILT_IN: Readonly<Record<string, (count: bigint, matched: bigint) => boolean>> = {
  'keys-all': (count, matched) => matched >= count,
  'keys-any': (_, matched) => matched >= 1n,
  'keys-2': (_, matched) => matched >= 2n,
};

/**
 * @param predicate `keys-all`, `keys-any` or `keys-2`
 * @param count number of the keyset's keys
 * @param matched number of these keys that have signed
 * @returns undefined for another predicate
 */
export function satisfiesBuiltIn(predicate: string, count: bigint, matched: bigint): boolean | undefined {
  return Object.hasOwn(BUILT_IN, predicate) ? BUILT_IN[predicate](count, matched) : undefined;
}

/**
 * @param name the name of a stored keyset
 * @throws ContractError if there is no keyset of this name, or if too few of its keys signed
 */
export function enforceNamedKeyset(evaluator: Evaluator, name: string): void {
  enforceKeyset(evaluator, requireKeyset(evaluator, name), name);
}

function requireKeyset(evaluator: Evaluator, name: string): KeysetGuard {
  const { database, dialect } = evaluator;
  const keyset = database.keysets.get(name);
  if (keyset) {
    evaluator.gas.readKeyset();
    return keyset;
  }
  throw new ContractError(
    'eval',
    dialect === 4 ? `No such keyset: '${name}` : `Cannot find keyset in database: '${name}`,
  );
}

/** Number of steps counted for each signature, because its capabilities are compared with all held capabilities. */
const SIGNATURE_STEPS = 4;

function enforceKeyset(evaluator: Evaluator, keyset: KeysetGuard, name?: string): void {
  const { keys, predicate } = keyset;
  evaluator.spend(keys.length + SIGNATURE_STEPS * evaluator.environment.signatures.length);
  const signed = new Set(countingSignatures(evaluator).map(({ key }) => key));
  const matched = BigInt(keys.filter((key) => signed.has(key)).length);
  const count = BigInt(keys.length);
  const agrees =
    satisfiesBuiltIn(predicate, count, matched) ??
    // The reference implementation lets predicates of dialect 5 write. Here they can only read, because a predicate
    // that writes could move coins while the node buys gas.
    limited(evaluator, evaluator.dialect === 4 ? 'none' : 'read', () =>
      asksPredicate(evaluator, predicate, count, matched),
    );
  if (agrees) return;
  // Dialect 5 always shows the keys.
  const shown = name === undefined || evaluator.dialect === 5 ? shownKeys(keys, evaluator) : `'${name}`;
  const stored = evaluator.dialect === 4 ? undefined : `Keyset failure ( ${predicate} ):  ${storedKeys(keys)}`;
  throw new ContractError('tx-failure', `Keyset failure (${predicate}): ${shown}`, undefined, { stored });
}

function asksPredicate(evaluator: Evaluator, predicate: string, count: bigint, matched: bigint): boolean {
  const native = evaluator.findNative(predicate);
  // A bare name is refused, because the transaction itself could define a function with this name.
  if (!native && evaluator.dialect === 5 && !QualifiedName.parse(predicate)) {
    throw new ContractError('eval', `Invalid custom predicate for keyset ${predicate}`);
  }
  const asked = native ? new NativeFunction(native) : requireFunction(evaluator, predicate);
  const answer = evaluator.applyValue(asked, [count, matched]);
  if (typeof answer === 'boolean') return answer;
  throw new ContractError('eval', `Invalid response from keyset predicate: ${evaluator.print(answer)}`);
}

function storedKeys(keys: readonly string[]): string {
  return keys.map((key) => shortened(key, STORED_KEY_LENGTH)).join(', ');
}

const SHOWN_KEY_LENGTH = 8;

function shownKeys(keys: readonly string[], { dialect }: Evaluator): string {
  const shown = keys.map((key) => {
    // Characters beyond U+FFFF have two code units.
    const characters = Array.from(key.slice(0, 2 * SHOWN_KEY_LENGTH));
    const isWhole = dialect === 4 && characters.length < SHOWN_KEY_LENGTH;
    return isWhole ? key : `${characters.slice(0, SHOWN_KEY_LENGTH).join('')}...`;
  });
  return `[${shown.join(', ')}]`;
}

/**
 * A signature that is limited to capabilities counts while one of them is being evaluated. Before version 4.12, and
 * whenever no capability is being evaluated, the signature counts while one of its capabilities is held. A signature
 * without limits counts unless code has installed capabilities.
 */
function countingSignatures({ environment, state }: Evaluator): readonly Signature[] {
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

/** @throws ContractError unless code outside of modules can call a function of this name */
function requireFunction(evaluator: Evaluator, name: string): Member {
  const member = evaluator.transactionNames.find(name);
  if (member instanceof Member) return member;
  throw new ContractError('eval', evaluator.dialect === 4 ? `Cannot resolve ${name}` : `Unbound variable ${name}`);
}

function enforceUserGuard(evaluator: Evaluator, { fun, args }: UserGuard): void {
  const member = requireFunction(evaluator, fun.text);
  if (findFrame(evaluator.context.frame, (frame) => frame.member.name.text === member.name.text)) {
    throw new ContractError('eval', `evalByName: loop detected: ${fun.text}`);
  }
  // Since version 5.3, the function of a user guard may read tables.
  const isOlderRule = evaluator.dialect === 4 || evaluator.environment.flags.has('DisablePact53');
  const access = isOlderRule ? 'none' : 'read';
  limited(evaluator, access, () => evaluator.applyValue(member, args));
}

/* Modules and defpacts. */

/** @param uncaught the message of dialect 4 for a pact guard, whose failure contract code cannot catch */
function enforcePactId(evaluator: Evaluator, id: string, uncaught?: string): void {
  const current = currentPactId(evaluator);
  if (current === id) return;
  if (evaluator.dialect === 5) {
    const message = `Capability pact guard failed: invalid pact id, expected ${id} got ${current}`;
    throw new ContractError('tx-failure', message);
  }
  if (uncaught === undefined) throw new ContractError('tx-failure', 'Invalid Pact ID');
  throw new ContractError('eval', `${uncaught}, active: ${current}`);
}

/** @returns the id of the defpact that was executed last in this transaction @throws ContractError if there was none */
export function currentPactId({ state, dialect }: Evaluator): string {
  if (state.defpact) return state.defpact.id;
  const message5 = 'Attempted to fetch defpact data, but currently not within defpact execution';
  throw new ContractError('eval', dialect === 4 ? 'pact-id: not in pact execution' : message5);
}

function enforceModule(evaluator: Evaluator, name: ModuleName): void {
  const module = requireModule(evaluator, name);
  if (isInterface(module)) throw new ContractError('eval', `ModuleGuard not allowed on interface: ${name.text}`);
  const isCaller = findFrame(evaluator.context.frame, ({ member }) => isSameModule(member.module, module));
  if (!isCaller) administer(evaluator, module);
}

function isSameModule(a: LoadedModule, b: LoadedModule): boolean {
  return a.name.text === b.name.text;
}

/** @returns the module whose code runs; undefined for code outside of modules */
export function callingModule({ context }: Evaluator): LoadedModule | undefined {
  return context.frame?.member.module;
}

/** @throws ContractError unless the module's own code runs, or the module's governance agrees */
export function requireModuleRights(evaluator: Evaluator, module: LoadedModule): void {
  const caller = callingModule(evaluator);
  if (caller && isSameModule(caller, module)) return;
  // In dialect 5, code must have acquired the module's governance before.
  if (evaluator.dialect === 5 && !evaluator.state.administered.has(module.name.text)) {
    const message = `Module admin necessary for operation but has not been acquired:${module.name.text}`;
    throw new ContractError('eval', message);
  }
  administer(evaluator, requireModule(evaluator, module.name));
}

/** Enforces the governance of a module, unless the transaction holds the admin rights already. @throws ContractError */
export function administer(evaluator: Evaluator, module: LoadedModule): void {
  if (evaluator.state.administered.has(module.name.text)) return;
  enforceGovernance(evaluator, module);
  grantAdministration(evaluator, module.name);
}

export function grantAdministration(evaluator: Evaluator, name: ModuleName): void {
  const administered = new Set(evaluator.state.administered).add(name.text);
  evaluator.state = { ...evaluator.state, administered };
}

function enforceGovernance(evaluator: Evaluator, module: LoadedModule): void {
  if (isInterface(module)) throw new ContractError('eval', 'Interfaces have no governance');
  const { syntax } = module;
  if (syntax.kind !== 'module') return;
  const { governance } = syntax;
  if (governance.kind === 'keyset') {
    enforceNamedKeyset(evaluator, governance.name);
    return;
  }
  const member = module.members.get(governance.name);
  if (!member?.is('defcap')) throw new ContractError('eval', 'enforceModuleAdmin: module governance must be defcap');
  evaluator.gas.call(governance.name);
  const run = (): void => {
    evaluator.inFrame({ member, args: [] }, undefined, (scope) =>
      evaluator.evaluateBody(member.definition.body, scope),
    );
  };
  if (evaluator.dialect === 4) {
    run();
    return;
  }
  // In dialect 5, the capability is also held while its body runs.
  const capability = { name: member.name, args: [] };
  whileEvaluating(evaluator, [capability], () => whileHolding(evaluator, capability, run));
}

/** @returns the values @throws ContractError for a value that cannot be stored */
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
