/**
 * Enforces guards and the governance of modules. If the governance of a module passes, the transaction gets the admin
 * rights for the module.
 */

import { ContractError, STORED_KEY_LENGTH, shortened } from '../errors.ts';
import { type ModuleName, QualifiedName } from '../names.ts';
import { limited } from '../runtime/access.ts';
import type { Capability, Signature } from '../runtime/environment.ts';
import { callingModule, requireModule } from '../runtime/lookup.ts';
import { isInterface, type LoadedModule, Member } from '../runtime/module.ts';
import { type Evaluator, NativeFunction } from '../runtime/native.ts';
import { findFrame } from '../runtime/state.ts';
import type { CapabilityGuard, Guard, KeysetGuard, UserGuard } from '../values/values.ts';
import { acquire } from './acquisition.ts';
import { runBody } from './applied.ts';
import { heldCapabilities, includesCapability, isHeld, takeGrant } from './grants.ts';

/** @throws ContractError unless the guard passes */
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
 * @param predicate the name of a keyset's predicate
 * @param count number of the keyset's keys
 * @param matched number of these keys that have signed
 * @returns whether enough keys have signed; undefined for a predicate other than `keys-all`, `keys-any` and `keys-2`
 */
export function satisfiesBuiltIn(predicate: string, count: bigint, matched: bigint): boolean | undefined {
  return Object.hasOwn(BUILT_IN, predicate) ? BUILT_IN[predicate](count, matched) : undefined;
}

/**
 * @param name the name of a stored keyset
 * @throws ContractError if there is no keyset of this name, or if its predicate does not accept the number of keys that
 *   have signed
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

/**
 * Number of steps counted for each signature. The capabilities of a signature are compared with the capabilities that
 * are held or evaluated.
 */
const SIGNATURE_STEPS = 4;

/** @param name the name of a stored keyset, for the message of dialect 4; undefined for a keyset that is a value */
function enforceKeyset(evaluator: Evaluator, keyset: KeysetGuard, name?: string): void {
  const { keys, predicate } = keyset;
  evaluator.spend(keys.length + SIGNATURE_STEPS * evaluator.environment.signatures.length);
  const signed = new Set(countingSignatures(evaluator).map(({ key }) => key));
  const matched = BigInt(keys.filter((key) => signed.has(key)).length);
  const count = BigInt(keys.length);
  const agrees =
    satisfiesBuiltIn(predicate, count, matched) ??
    // In the reference implementation, predicates of dialect 5 can write to tables. Here, they can only read, because a
    // predicate that writes could move coins while the node buys gas.
    limited(evaluator, evaluator.dialect === 4 ? 'none' : 'read', () =>
      asksPredicate(evaluator, predicate, count, matched),
    );
  if (agrees) return;
  // Dialect 4 shows only the name of a stored keyset, and dialect 5 always shows the keys.
  const shown = name === undefined || evaluator.dialect === 5 ? shownKeys(keys, evaluator) : `'${name}`;
  const stored = evaluator.dialect === 4 ? undefined : `Keyset failure ( ${predicate} ):  ${storedKeys(keys)}`;
  throw new ContractError('tx-failure', `Keyset failure (${predicate}): ${shown}`, undefined, { stored });
}

/**
 * @returns the result of a predicate that is not built in
 * @throws ContractError if the predicate is unknown, fails, or does not return a bool
 */
function asksPredicate(evaluator: Evaluator, predicate: string, count: bigint, matched: bigint): boolean {
  const native = evaluator.findNative(predicate);
  // Dialect 5 refuses a name without a module, because the transaction itself could define a function of this name.
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

/** Number of code points after which a key is cut in the message for a failed keyset. */
const SHOWN_KEY_LENGTH = 8;

function shownKeys(keys: readonly string[], { dialect }: Evaluator): string {
  const shown = keys.map((key) => {
    // A code point has at most two code units. Cutting the key here avoids making a list of all its code points.
    const characters = Array.from(key.slice(0, 2 * SHOWN_KEY_LENGTH));
    const isWhole = dialect === 4 && characters.length < SHOWN_KEY_LENGTH;
    return isWhole ? key : `${characters.slice(0, SHOWN_KEY_LENGTH).join('')}...`;
  });
  return `[${shown.join(', ')}]`;
}

/**
 * @returns the signatures that count for keysets now. A signature without capabilities counts unless code has installed
 *   a capability. A signature with capabilities counts if one of its capabilities is being evaluated. Before version
 *   4.12, and when no capability at all is being evaluated, such a signature counts if one of its capabilities is held
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

/* Guards that are functions. */

/**
 * @returns the member that the name refers to in code outside of modules
 * @throws ContractError if there is none
 */
function requireFunction(evaluator: Evaluator, name: string): Member {
  const member = evaluator.transactionNames.find(name);
  if (member instanceof Member) return member;
  throw new ContractError('eval', evaluator.dialect === 4 ? `Cannot resolve ${name}` : `Unbound variable ${name}`);
}

/** @throws ContractError if there is no such function, if the function is running already, or if the function fails */
function enforceUserGuard(evaluator: Evaluator, { fun, args }: UserGuard): void {
  const member = requireFunction(evaluator, fun.text);
  if (findFrame(evaluator.context.frame, (frame) => frame.member.name.text === member.name.text)) {
    throw new ContractError('eval', `evalByName: loop detected: ${fun.text}`);
  }
  // Since version 5.3, the function of a user guard can read tables. Before, it has no access to them.
  const isOlderRule = evaluator.dialect === 4 || evaluator.environment.flags.has('DisablePact53');
  const access = isOlderRule ? 'none' : 'read';
  limited(evaluator, access, () => evaluator.applyValue(member, args));
}

/* Modules and defpacts. */

/**
 * @param uncaught for a pact guard, the beginning of dialect 4's message. In dialect 4, the failure of a pact guard has
 *   the kind `eval`, which `try` catches only before version 4.4. Undefined for a capability guard
 * @throws ContractError unless the current defpact has this id
 */
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

/**
 * @returns the pact id of the defpact whose step this transaction executes now or has executed last
 * @throws ContractError if the transaction has executed no step of a defpact
 */
export function currentPactId({ state, dialect }: Evaluator): string {
  if (state.defpact) return state.defpact.id;
  const message5 = 'Attempted to fetch defpact data, but currently not within defpact execution';
  throw new ContractError('eval', dialect === 4 ? 'pact-id: not in pact execution' : message5);
}

/**
 * The guard passes if code of the module runs, or has called the running code. Otherwise, the module's governance
 * decides.
 * @throws ContractError if the guard does not pass, and for an interface
 */
function enforceModule(evaluator: Evaluator, name: ModuleName): void {
  const module = requireModule(evaluator, name);
  if (isInterface(module)) throw new ContractError('eval', `ModuleGuard not allowed on interface: ${name.text}`);
  const isCaller = findFrame(evaluator.context.frame, ({ member }) => isSameModule(member.module, module));
  if (!isCaller) administer(evaluator, module);
}

function isSameModule(a: LoadedModule, b: LoadedModule): boolean {
  return a.name.text === b.name.text;
}

/**
 * Requires that code of the module runs, or that the transaction has the module's admin rights. Dialect 4 acquires
 * missing admin rights here.
 * @throws ContractError in dialect 4 if the module's governance does not pass; in dialect 5 if the admin rights were
 *   not acquired before
 */
export function requireModuleRights(evaluator: Evaluator, module: LoadedModule): void {
  const caller = callingModule(evaluator);
  if (caller && isSameModule(caller, module)) return;
  // In dialect 5, code must have acquired the admin rights before, for example with `acquire-module-admin`.
  if (evaluator.dialect === 5 && !evaluator.state.administered.has(module.name.text)) {
    const message = `Module admin necessary for operation but has not been acquired:${module.name.text}`;
    throw new ContractError('eval', message);
  }
  administer(evaluator, requireModule(evaluator, module.name));
}

/**
 * Acquires the admin rights for a module until the end of the transaction, by enforcing the module's governance. If the
 * transaction has these rights already, the governance is not enforced again.
 * @throws ContractError for an interface, and if the governance does not pass
 */
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
  const call = { member, args: [] };
  if (evaluator.dialect === 4) {
    runBody(evaluator, call);
    return;
  }
  // In dialect 5, the capability that governs the module is acquired as any other, unless it is held already.
  const applied = { capability: { name: member.name, args: [] }, call };
  if (acquire(evaluator, applied)) takeGrant(evaluator);
}
