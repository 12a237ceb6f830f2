/** Natives of keysets and other guards, and of the principals that are made from guards. */

import { ContractError } from '../errors.ts';
import { readKeysetField } from '../natives/messages.ts';
import { requireAccess } from '../runtime/access.ts';
import { type Argument, type Evaluation, lazy, type Native, nativeFailure, strict } from '../runtime/native.ts';
import { SteppedWalk } from '../runtime/steps.ts';
import { isPrincipal, principalOf, typeOfPrincipal } from '../values/principals.ts';
import {
  CapabilityGuard,
  DefpactGuard,
  type Guard,
  isGuard,
  isStorable,
  isText,
  type KeysetGuard,
  KeysetRefGuard,
  ModuleGuard,
  UserGuard,
  type Value,
} from '../values/values.ts';
import { appliedCapability } from './applied.ts';
import { withReserved } from './grants.ts';
import {
  callingModule,
  currentPactId,
  enforceGuard,
  enforceNamedKeyset,
  satisfiesBuiltIn,
  storable,
} from './guards.ts';

/* Keysets that have a name. */

/** Since version 4.4, refuses the empty text. Names of old keysets have any characters. */
function checkKeysetName({ dialect, environment }: Evaluation, name: string): void {
  if (name !== '' || environment.flags.has('DisablePact44')) return;
  const message = dialect === 4 ? 'incorrect keyset name format' : `Invalid keyset name format: ${name}`;
  throw new ContractError('eval', message);
}

/** Defines a keyset, or replaces one whose keys have signed. @returns what the interpreter prints */
function defineKeyset(evaluation: Evaluation, name: string, keyset: KeysetGuard): string {
  requireAccess(evaluation, 'write', 'writeRow');
  checkKeysetName(evaluation, name);
  const { keysets } = evaluation.database;
  if (keysets.get(name)) {
    withReserved(evaluation, 'DEFINE_KEYSET', name, () => enforceNamedKeyset(evaluation, name));
  } else enforceKeysetNamespace(evaluation, name);
  evaluation.gas.defineKeyset(name, keyset);
  evaluation.kept?.addEntry([name, keyset]);
  keysets.set(name, keyset);
  return evaluation.dialect === 4 ? 'Keyset defined' : 'Keyset write success';
}

/** @throws ContractError unless a new keyset belongs to the current namespace, whose user guard must agree */
function enforceKeysetNamespace(evaluation: Evaluation, name: string): void {
  const { dialect, environment, state } = evaluation;
  const isFree = dialect === 4 ? environment.flags.has('DisablePact44') : !environment.flags.has('RequireKeysetNs');
  if (isFree) return;
  const { namespace } = state;
  if (!namespace) {
    const message4 = 'Cannot define a keyset outside of a namespace';
    throw new ContractError('eval', dialect === 4 ? message4 : 'Cannot define keyset outside of a namespace');
  }
  if (dialect === 4) enforceGuard(evaluation, namespace.user);
  const [first, second, ...more] = name.split('.');
  if (first !== namespace.name || second === undefined || more.length > 0) {
    const message5 = `Error defining keyset, namespace mismatch, expected ${namespace.name}`;
    throw new ContractError('eval', dialect === 4 ? 'Mismatching keyset namespace' : message5);
  }
  if (dialect === 5) {
    withReserved(evaluation, 'NAMESPACE', namespace.name, () => enforceGuard(evaluation, namespace.user));
  }
}

/** @param missing message of dialect 4 if there is no such keyset */
function requireKeyset({ database, dialect }: Evaluation, name: string, missing: string): KeysetGuard {
  const keyset = database.keysets.get(name);
  if (keyset) return keyset;
  const message = dialect === 4 ? `${missing}: ${name}` : `Cannot find keyset in database: '${name}`;
  throw new ContractError('eval', message);
}

/** `enforce-guard` and `enforce-keyset`, which are the same function. */
function enforcing(name: string): Native {
  const signatures = ['guard:guard -> bool', 'keysetname:string -> bool'];
  return strict(name, signatures, ([guard, ...more], { evaluation }) => {
    if (guard === undefined || more.length > 0) return undefined;
    if (isText(guard)) {
      checkKeysetName(evaluation, guard);
      enforceNamedKeyset(evaluation, guard);
      return true;
    }
    if (!isGuard(guard)) return undefined;
    enforceGuard(evaluation, guard);
    return true;
  });
}

/** A predicate of keysets as a function. `keys-all` agrees only if both counts are equal. */
function predicate(name: string): Native {
  return strict(name, 'count:integer matched:integer -> bool', ([count, matched, ...more]) => {
    if (typeof count !== 'bigint' || typeof matched !== 'bigint' || more.length > 0) return undefined;
    return name === 'keys-all' ? count === matched : satisfiesBuiltIn(name, count, matched);
  });
}

/* Making guards. */

function userGuard([closure, ...more]: readonly Argument[], evaluation: Evaluation): Guard | undefined {
  if (!closure || more.length > 0) return undefined;
  const { dialect } = evaluation;
  const call = closure.asCall();
  if (!call) {
    const message5 = 'create-user-guard: expected function application of a top-level function';
    if (dialect === 5) throw nativeFailure({ name: 'create-user-guard' }, message5);
    throw new ContractError(
      'eval',
      `User guard closure function must be def: ${closure.code.trim()}`,
      closure.position,
    );
  }
  const { member, args } = call;
  const { kind } = member.definition;
  if (kind === 'defun') return new UserGuard(member.name, storable(evaluation, args));
  const message =
    dialect === 4
      ? `User guard closure must be defun, found: ${kind}`
      : `User guard closure ${member.name.text} must be defun, got${kind}`;
  throw new ContractError('eval', message, closure.position);
}

function capabilityGuard(
  [argument, ...more]: readonly Argument[],
  evaluation: Evaluation,
  pactId?: () => string,
): Guard | undefined {
  if (!argument || more.length > 0) return undefined;
  const { capability } = appliedCapability(evaluation, argument.asCapability(), argument.position);
  return new CapabilityGuard(capability.name, storable(evaluation, capability.args), pactId?.());
}

function moduleGuard(evaluation: Evaluation, name: string): Guard {
  const module = callingModule(evaluation);
  if (module) return new ModuleGuard(module.name, name);
  const message = 'create-module-guard: must call within module';
  if (evaluation.dialect === 5) throw nativeFailure({ name: 'create-module-guard' }, message);
  throw new ContractError('eval', message);
}

/** @returns a native that makes a guard from one text */
function namedGuard(name: string, parameter: string, make: (evaluation: Evaluation, text: string) => Guard): Native {
  return strict(name, `${parameter}:string -> guard`, ([text, ...more], { evaluation }) =>
    isText(text) && more.length === 0 ? make(evaluation, text) : undefined,
  );
}

/* Principals. */

/** @returns the principal of a guard. Counts a step for each part of the guard's arguments */
function principal(evaluation: Evaluation, guard: Guard): string {
  evaluation.gas.principal(guard);
  const parts: Value = guard.kind === 'user' || guard.kind === 'capability' ? guard.args : [];
  isStorable(guard.kind === 'keyset' ? guard.keys : parts, new SteppedWalk(evaluation, { isBounded: false }));
  return principalOf(guard);
}

function ofPrincipal(name: string, type: string, run: (principal: string) => Value): Native {
  return strict(name, `principal:string -> ${type}`, ([text, ...more]) =>
    isText(text) && more.length === 0 ? run(text) : undefined,
  );
}

const OF_CAPABILITY = 'capability:( -> bool) -> guard';

export const KEYSETS: readonly Native[] = [
  {
    ...strict(
      'define-keyset',
      ['name:string keyset:keyset -> string', 'name:string -> string'],
      ([name, keyset, ...more], { evaluation }) => {
        if (!isText(name) || more.length > 0) return undefined;
        const given = keyset ?? readKeysetField(evaluation, name, 'define-keyset');
        return isGuard(given) && given.kind === 'keyset' ? defineKeyset(evaluation, name, given) : undefined;
      },
    ),
    isTopLevel: true,
  },
  {
    ...strict('describe-keyset', 'keyset:string -> object:*', ([name, ...more], { evaluation }) => {
      if (!isText(name) || more.length > 0) return undefined;
      checkKeysetName(evaluation, name);
      const keyset = requireKeyset(evaluation, name, 'Keyset not found');
      evaluation.gas.readKeyset();
      return keyset;
    }),
    isTopLevel: true,
  },
  enforcing('enforce-guard'),
  enforcing('enforce-keyset'),
  predicate('keys-all'),
  predicate('keys-any'),
  predicate('keys-2'),
  namedGuard('keyset-ref-guard', 'keyset-ref', (evaluation, name) => {
    checkKeysetName(evaluation, name);
    requireKeyset(evaluation, name, 'Keyset reference cannot be found');
    return new KeysetRefGuard(name);
  }),
  namedGuard('create-module-guard', 'name', moduleGuard),
  namedGuard('create-pact-guard', 'name', (evaluation, name) => new DefpactGuard(currentPactId(evaluation), name)),
  lazy('create-user-guard', 'closure:( -> bool) -> guard', (args, { evaluation, binding }) =>
    binding ? undefined : userGuard(args, evaluation),
  ),
  lazy('create-capability-guard', OF_CAPABILITY, (args, { evaluation, binding }) =>
    binding ? undefined : capabilityGuard(args, evaluation),
  ),
  lazy('create-capability-pact-guard', OF_CAPABILITY, (args, { evaluation, binding }) =>
    binding ? undefined : capabilityGuard(args, evaluation, () => currentPactId(evaluation)),
  ),
  strict('create-principal', 'guard:guard -> string', ([guard, ...more], { evaluation }) =>
    guard !== undefined && isGuard(guard) && more.length === 0 ? principal(evaluation, guard) : undefined,
  ),
  strict('validate-principal', 'guard:guard principal:string -> bool', ([guard, text, ...more], { evaluation }) =>
    guard !== undefined && isGuard(guard) && isText(text) && more.length === 0
      ? principal(evaluation, guard) === text
      : undefined,
  ),
  ofPrincipal('is-principal', 'bool', isPrincipal),
  ofPrincipal('typeof-principal', 'string', typeOfPrincipal),
];
