/** Natives for keysets and other guards, and for the principals that are made from guards. */

import { ContractError } from '../errors.ts';
import { costOfPrincipal5 } from '../gas/natives5.ts';
import { comparison5 } from '../gas/numbers5.ts';
import { readKeysetField } from '../natives/messages.ts';
import { requireAccess } from '../runtime/access.ts';
import { callingModule } from '../runtime/lookup.ts';
import { type Argument, type Evaluator, lazy, type Native, nativeFailure, strict } from '../runtime/native.ts';
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
import { appliedCapability, storable } from './applied.ts';
import { withReserved } from './grants.ts';
import { currentPactId, enforceGuard, enforceNamedKeyset, satisfiesBuiltIn } from './guards.ts';

/* Keysets that have a name. */

/**
 * @throws ContractError since version 4.4 for the empty text. Every other text is accepted, because old keysets have
 *   names with arbitrary characters
 */
function checkKeysetName({ dialect, environment }: Evaluator, name: string): void {
  if (name !== '' || environment.flags.has('DisablePact44')) return;
  const message = dialect === 4 ? 'incorrect keyset name format' : `Invalid keyset name format: ${name}`;
  throw new ContractError('eval', message);
}

/**
 * Defines a keyset, or replaces an existing keyset if enough keys of the existing keyset have signed.
 * @returns the text that the interpreter prints
 * @throws ContractError if the name, the namespace or the existing keyset does not permit the definition, or if the
 *   running code may not write
 */
function defineKeyset(evaluator: Evaluator, name: string, keyset: KeysetGuard): string {
  requireAccess(evaluator, 'write', 'writeRow');
  checkKeysetName(evaluator, name);
  const { keysets } = evaluator.database;
  if (keysets.get(name)) {
    withReserved(evaluator, 'DEFINE_KEYSET', name, () => enforceNamedKeyset(evaluator, name));
  } else enforceKeysetNamespace(evaluator, name);
  evaluator.gas.defineKeyset(name, keyset);
  evaluator.gas.write5('define-keyset', (sizes) => sizes.keyset(keyset));
  evaluator.kept?.addEntry([name, keyset]);
  keysets.set(name, keyset);
  return evaluator.dialect === 4 ? 'Keyset defined' : 'Keyset write success';
}

/**
 * Checks the namespace of a new keyset: in dialect 4 since version 4.4, and in dialect 5 with the flag
 * `RequireKeysetNs`.
 * @throws ContractError unless the name has the form `namespace.name` with the current namespace, and the user guard of
 *   this namespace passes
 */
function enforceKeysetNamespace(evaluator: Evaluator, name: string): void {
  const { dialect, environment, state } = evaluator;
  const isFree = dialect === 4 ? environment.flags.has('DisablePact44') : !environment.flags.has('RequireKeysetNs');
  if (isFree) return;
  const { namespace } = state;
  if (!namespace) {
    const message4 = 'Cannot define a keyset outside of a namespace';
    throw new ContractError('eval', dialect === 4 ? message4 : 'Cannot define keyset outside of a namespace');
  }
  if (dialect === 4) enforceGuard(evaluator, namespace.user);
  const [first, second, ...more] = name.split('.');
  if (first !== namespace.name || second === undefined || more.length > 0) {
    const message5 = `Error defining keyset, namespace mismatch, expected ${namespace.name}`;
    throw new ContractError('eval', dialect === 4 ? 'Mismatching keyset namespace' : message5);
  }
  if (dialect === 5) {
    withReserved(evaluator, 'NAMESPACE', namespace.name, () => enforceGuard(evaluator, namespace.user));
  }
}

/** @param missing the beginning of dialect 4's message if there is no keyset of this name */
function requireKeyset({ database, dialect }: Evaluator, name: string, missing: string): KeysetGuard {
  const keyset = database.keysets.get(name);
  if (keyset) return keyset;
  const message = dialect === 4 ? `${missing}: ${name}` : `Cannot find keyset in database: '${name}`;
  throw new ContractError('eval', message);
}

/** @returns the native `enforce-guard` or `enforce-keyset`. They differ only in their names */
function enforcing(name: string): Native {
  const signatures = ['guard:guard -> bool', 'keysetname:string -> bool'];
  return strict(name, signatures, ([guard, ...more], { evaluator }) => {
    if (guard === undefined || more.length > 0) return undefined;
    if (isText(guard)) {
      checkKeysetName(evaluator, guard);
      enforceNamedKeyset(evaluator, guard);
      return true;
    }
    if (!isGuard(guard)) return undefined;
    enforceGuard(evaluator, guard);
    return true;
  });
}

/**
 * @returns the native of a built-in keyset predicate. When code calls `keys-all`, both counts must be equal. When a
 *   keyset with this predicate is enforced, there may be more matches than keys
 */
function predicate(name: string): Native {
  return strict(name, 'count:integer matched:integer -> bool', ([count, matched, ...more]) => {
    if (typeof count !== 'bigint' || typeof matched !== 'bigint' || more.length > 0) return undefined;
    return name === 'keys-all' ? count === matched : satisfiesBuiltIn(name, count, matched);
  });
}

/* Natives that make guards. */

function userGuard([closure, ...more]: readonly Argument[], evaluator: Evaluator): Guard | undefined {
  if (!closure || more.length > 0) return undefined;
  const { dialect } = evaluator;
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
  if (kind === 'defun') return new UserGuard(member.name, storable(evaluator, args));
  const message =
    dialect === 4
      ? `User guard closure must be defun, found: ${kind}`
      : `User guard closure ${member.name.text} must be defun, got${kind}`;
  throw new ContractError('eval', message, closure.position);
}

/**
 * @param pactId gives the id of the defpact in which the guard will pass; undefined for a guard that is not restricted
 *   to a defpact
 */
function capabilityGuard(
  [argument, ...more]: readonly Argument[],
  evaluator: Evaluator,
  pactId?: () => string,
): Guard | undefined {
  if (!argument || more.length > 0) return undefined;
  const { capability } = appliedCapability(evaluator, argument.asCapability(), argument.position);
  return new CapabilityGuard(capability.name, storable(evaluator, capability.args), pactId?.());
}

function moduleGuard(evaluator: Evaluator, name: string): Guard {
  const module = callingModule(evaluator);
  if (module) return new ModuleGuard(module.name, name);
  const message = 'create-module-guard: must call within module';
  if (evaluator.dialect === 5) throw nativeFailure({ name: 'create-module-guard' }, message);
  throw new ContractError('eval', message);
}

/** @returns a native that makes a guard from its only argument, a text */
function namedGuard(name: string, parameter: string, make: (evaluator: Evaluator, text: string) => Guard): Native {
  return strict(name, `${parameter}:string -> guard`, ([text, ...more], { evaluator }) =>
    isText(text) && more.length === 0 ? make(evaluator, text) : undefined,
  );
}

/* Principals. */

/**
 * @returns the principal of a guard. Counts a step for each key of a keyset, or for each part of the arguments of
 *   another guard
 */
function principal(evaluator: Evaluator, guard: Guard): string {
  evaluator.gas.principal(guard);
  evaluator.gas.charge5('principal', () => costOfPrincipal5(guard, new SteppedWalk(evaluator)));
  const parts: Value = guard.kind === 'user' || guard.kind === 'capability' ? guard.args : [];
  isStorable(guard.kind === 'keyset' ? guard.keys : parts, new SteppedWalk(evaluator, { isBounded: false }));
  return principalOf(guard);
}

function isPrincipalOf(evaluator: Evaluator, guard: Guard, text: string): boolean {
  const made = principal(evaluator, guard);
  evaluator.gas.charge5('validate-principal', () => comparison5(text, text));
  return made === text;
}

/**
 * @param type the type of the result, for messages
 * @returns a native whose only argument is a text, which may be a principal
 */
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
      ([name, keyset, ...more], { evaluator }) => {
        if (!isText(name) || more.length > 0) return undefined;
        const given = keyset ?? readKeysetField(evaluator, name, 'define-keyset');
        return isGuard(given) && given.kind === 'keyset' ? defineKeyset(evaluator, name, given) : undefined;
      },
    ),
    isTopLevel: true,
  },
  {
    ...strict('describe-keyset', 'keyset:string -> object:*', ([name, ...more], { evaluator }) => {
      if (!isText(name) || more.length > 0) return undefined;
      checkKeysetName(evaluator, name);
      const keyset = requireKeyset(evaluator, name, 'Keyset not found');
      evaluator.gas.readKeyset();
      return keyset;
    }),
    isTopLevel: true,
  },
  enforcing('enforce-guard'),
  enforcing('enforce-keyset'),
  predicate('keys-all'),
  predicate('keys-any'),
  predicate('keys-2'),
  namedGuard('keyset-ref-guard', 'keyset-ref', (evaluator, name) => {
    checkKeysetName(evaluator, name);
    requireKeyset(evaluator, name, 'Keyset reference cannot be found');
    return new KeysetRefGuard(name);
  }),
  namedGuard('create-module-guard', 'name', moduleGuard),
  namedGuard('create-pact-guard', 'name', (evaluator, name) => new DefpactGuard(currentPactId(evaluator), name)),
  lazy('create-user-guard', 'closure:( -> bool) -> guard', (args, { evaluator }) => userGuard(args, evaluator)),
  lazy('create-capability-guard', OF_CAPABILITY, (args, { evaluator }) => capabilityGuard(args, evaluator)),
  lazy('create-capability-pact-guard', OF_CAPABILITY, (args, { evaluator }) =>
    capabilityGuard(args, evaluator, () => currentPactId(evaluator)),
  ),
  strict('create-principal', 'guard:guard -> string', ([guard, ...more], { evaluator }) =>
    guard !== undefined && isGuard(guard) && more.length === 0 ? principal(evaluator, guard) : undefined,
  ),
  strict('validate-principal', 'guard:guard principal:string -> bool', ([guard, text, ...more], { evaluator }) =>
    guard !== undefined && isGuard(guard) && isText(text) && more.length === 0
      ? isPrincipalOf(evaluator, guard, text)
      : undefined,
  ),
  ofPrincipal('is-principal', 'bool', isPrincipal),
  ofPrincipal('typeof-principal', 'string', typeOfPrincipal),
];
