/** Natives for namespaces, for modules, and for the version of the contract language. */

import { administer } from '../capabilities/guards.ts';
import { ContractError } from '../errors.ts';
import { chargeForStoring } from '../gas/loading5.ts';
import { ModuleName } from '../names.ts';
import { requireAccess, requireLocal } from '../runtime/access.ts';
import { findModule, requireModule } from '../runtime/lookup.ts';
import { isInterface, type LoadedModule } from '../runtime/module.ts';
import { type Evaluator, type Native, nativeFailure, strict } from '../runtime/native.ts';
import { spendParts } from '../runtime/steps.ts';
import type { Governance } from '../syntax/tree.ts';
import {
  compareTexts,
  isGuard,
  isText,
  ModuleRef,
  type Storable,
  type StorableObject,
  sortedObject,
  UNIT,
  type Value,
} from '../values/values.ts';
import { chargeForReading, defineNamespace, enterNamespace } from './namespaces.ts';

/** @returns a copy of the native that only code outside of modules can call */
function topLevel(native: Native): Native {
  return { ...native, isTopLevel: true };
}

/** @returns a native whose only argument is a text */
function ofText(name: string, signature: string, run: (text: string, evaluator: Evaluator) => Value): Native {
  return strict(name, signature, ([text, ...more], { evaluator }) =>
    isText(text) && more.length === 0 ? run(text, evaluator) : undefined,
  );
}

/* Namespaces. */

function enter(name: string, evaluator: Evaluator): string {
  enterNamespace(evaluator, name);
  return evaluator.state.namespace ? `Namespace set to ${name}` : 'Namespace reset to root';
}

function describeNamespace(name: string, evaluator: Evaluator): StorableObject {
  const { database, dialect, gas } = evaluator;
  const namespace = database.namespaces.get(name);
  chargeForReading(evaluator, 'describe-namespace', name, namespace);
  if (!namespace) {
    const message = dialect === 4 ? 'Namespace not defined' : 'Namespace not found';
    throw new ContractError('eval', `${message}: ${name}`);
  }
  gas.readNamespace();
  const { user, admin } = namespace;
  return sortedObject<Storable>([
    ['admin-guard', admin],
    ['namespace-name', name],
    ['user-guard', user],
  ]);
}

/* Modules. */

/**
 * @returns the name of a module; in dialect 4, any text is accepted
 * @throws ContractError in dialect 5 unless the text is a name without dots, or two such names that are joined by a dot
 */
function moduleNameOf(text: string, native: string, { dialect }: Evaluator): ModuleName {
  const name = ModuleName.parse(text);
  if (name) return name;
  if (dialect === 5) throw nativeFailure({ name: native }, 'invalid module name format');
  return new ModuleName(text);
}

/** @returns the governance of a module as dialect 4 shows it: `'keyset`, or the name of a capability */
function governanceText({ kind, name }: Governance): string {
  return kind === 'keyset' ? `'${name}` : name;
}

function describeModule(text: string, evaluator: Evaluator): StorableObject {
  const { dialect, environment } = evaluator;
  // Dialect 5 has no such flag.
  if (!environment.flags.has('DisablePact431')) requireLocal(evaluator, 'describe-module');
  const name = moduleNameOf(text, 'describe-module', evaluator);
  const module = dialect === 4 ? findModule(evaluator, name) : requireModule(evaluator, name);
  if (!module) throw new ContractError('eval', `Module not found: ${text}`);
  return dialect === 4 ? described4(module) : described5(module);
}

function described4(module: LoadedModule): StorableObject {
  const { name, hash, blessed, syntax, interfaces } = module;
  const both: readonly [string, Storable][] = [
    ['code', syntax.code],
    ['name', name.text],
  ];
  if (syntax.kind === 'interface') return sortedObject(both);
  return sortedObject<Storable>([
    ...both,
    ['blessed', [...blessed].sort(compareTexts)],
    ['hash', hash],
    ['interfaces', interfaces.map((each) => each.text)],
    ['keyset', governanceText(syntax.governance)],
  ]);
}

function described5(module: LoadedModule): StorableObject {
  const { name, hash, syntax, interfaces, transactionHash } = module;
  const both: readonly [string, Storable][] = [
    ['code', syntax.code],
    ['hash', hash],
    ['name', name.text],
    ['tx_hash', transactionHash],
  ];
  if (isInterface(module)) return sortedObject(both);
  return sortedObject<Storable>([...both, ['interfaces', interfaces.map((each) => each.text)]]);
}

function listModules(evaluator: Evaluator): readonly string[] {
  const { database, environment } = evaluator;
  // Dialect 5 has no such flag.
  if (!environment.flags.has('DisablePact411')) requireLocal(evaluator, 'list-modules');
  const names = [...database.modules.entries().keys()].sort(compareTexts);
  spendParts(evaluator, names.length);
  return names;
}

/**
 * The native `static-redeploy`, which converts a stored module to the newest format. Here, there is only one format, so
 * the module is stored unchanged.
 */
function redeploy(text: string, evaluator: Evaluator): Value {
  requireAccess(evaluator, 'write', 'writeRow');
  const name = moduleNameOf(text, 'static-redeploy', evaluator);
  const module = requireModule(evaluator, name);
  chargeForStoring(evaluator, module);
  evaluator.database.modules.set(module.name.text, module);
  return UNIT;
}

/* The version of the contract language. */

/** The version that dialect 4 reports. */
const VERSION4 = '4.13.2';
/** The version that dialect 4 reports with the flag `DisablePact431`. */
const VERSION4_BEFORE_431 = '4.2.1';
/** The version that dialect 5 reports. */
const VERSION5 = '5.4';

/**
 * @param native the name of the calling native, for messages
 * @throws ContractError in dialect 4 with the flag `DisableHistoryInTransactionalMode`, unless `DisablePact431` is set,
 *   too
 */
function versionOf(evaluator: Evaluator, native: string): string {
  if (evaluator.dialect === 5) return VERSION5;
  if (evaluator.environment.flags.has('DisablePact431')) return VERSION4_BEFORE_431;
  requireLocal(evaluator, native);
  return VERSION4;
}

/**
 * Compares two versions part by part, up to the last part of the shorter one. The first part that differs decides.
 * @param bound the minimum or maximum version
 * @throws ContractError if the version is below the minimum or above the maximum, or if a compared part of the bound
 *   does not begin with 1 to 100 digits
 */
function enforceVersion4(version: string, bound: string, which: 'minimum' | 'maximum'): void {
  const parts = version.split('.');
  for (const [at, part] of bound.split('.', parts.length).entries()) {
    const own = BigInt(parts[at]);
    const wanted = versionPart(bound, part);
    if (wanted === own) continue;
    const isMet = which === 'minimum' ? wanted < own : wanted > own;
    if (isMet) return;
    throw new ContractError('eval', `Invalid pact version ${version}, ${which} allowed: ${bound}`);
  }
}

/**
 * Maximum number of digits of a part of a version. Larger numbers are refused, because their conversion to integers
 * would take long.
 */
const MAX_VERSION_DIGITS = 100;

function versionPart(version: string, part: string): bigint {
  const digits = /^\d+/.exec(part)?.[0];
  if (digits !== undefined && digits.length <= MAX_VERSION_DIGITS) return BigInt(digits);
  throw new ContractError('eval', `Invalid version component: (${version}, ${part})`);
}

function enforceVersion5(version: string, minimum: string, maximum: string | undefined): void {
  const [own, least, most] = [version, minimum, maximum ?? version].map(partsOfVersion5);
  if (compareVersions(least, own) <= 0 && compareVersions(own, most) <= 0) return;
  const bounds = `Minimum Version: ${minimum}${maximum === undefined ? '' : ` Maximum Version: ${maximum}`}`;
  throw new ContractError('eval', `Enforce pact-version failed: Current Version: ${version} ${bounds}`);
}

function partsOfVersion5(version: string): readonly bigint[] {
  const parts = version.split('.');
  const isVersion = parts.every((part) => /^\d+$/.test(part) && part.length <= MAX_VERSION_DIGITS);
  if (isVersion) return parts.map(BigInt);
  const message = `Could not parse ${version}, expect list of dot-separated integers`;
  throw new ContractError('eval', `Enforce pact-version failed: ${message}`);
}

/**
 * The first part that differs decides. If all parts of the shorter version are equal to those of the longer version,
 * the longer version is newer.
 * @returns a negative number if `a` is older, a positive number if `a` is newer, and 0 for equal versions
 */
function compareVersions(a: readonly bigint[], b: readonly bigint[]): number {
  for (const [at, part] of a.entries()) {
    if (at >= b.length || part > b[at]) return 1;
    if (part < b[at]) return -1;
  }
  return a.length - b.length;
}

function enforceVersion(evaluator: Evaluator, minimum: string, maximum: string | undefined): boolean {
  const version = versionOf(evaluator, 'enforce-pact-version');
  evaluator.spend(minimum.length + (maximum?.length ?? 0));
  if (evaluator.dialect === 5) {
    enforceVersion5(version, minimum, maximum);
    return true;
  }
  enforceVersion4(version, minimum, 'minimum');
  if (maximum !== undefined) enforceVersion4(version, maximum, 'maximum');
  return true;
}

/* The natives. */

export const MODULES: readonly Native[] = [
  topLevel(ofText('namespace', 'namespace:string -> string', enter)),
  topLevel(
    strict(
      'define-namespace',
      'namespace:string user-guard:guard admin-guard:guard -> string',
      ([name, user, admin, ...more], { evaluator }) => {
        if (!isText(name) || user === undefined || admin === undefined || more.length > 0) return undefined;
        if (!isGuard(user) || !isGuard(admin)) return undefined;
        defineNamespace(evaluator, { name, user, admin });
        return `Namespace defined: ${name}`;
      },
    ),
  ),
  topLevel(ofText('describe-namespace', 'ns:string -> object:{described-namespace}', describeNamespace)),
  topLevel(ofText('describe-module', 'module:string -> object:*', describeModule)),
  topLevel(
    strict('list-modules', ' -> [string]', (args, { evaluator }) =>
      args.length === 0 ? listModules(evaluator) : undefined,
    ),
  ),
  topLevel(
    strict('pact-version', ' -> string', (args, { evaluator }) =>
      args.length === 0 ? versionOf(evaluator, 'pact-version') : undefined,
    ),
  ),
  topLevel(
    strict(
      'enforce-pact-version',
      ['min-version:string -> bool', 'min-version:string max-version:string -> bool'],
      ([minimum, maximum, ...more], { evaluator }) => {
        if (!isText(minimum) || (maximum !== undefined && !isText(maximum)) || more.length > 0) return undefined;
        return enforceVersion(evaluator, minimum, maximum);
      },
    ),
  ),
  { ...topLevel(ofText('static-redeploy', 'module:string -> unit', redeploy)), dialect: 5 },
  {
    ...strict('acquire-module-admin', 'module:module -> string', ([module, ...more], { evaluator }) => {
      if (!(module instanceof ModuleRef) || more.length > 0) return undefined;
      administer(evaluator, requireModule(evaluator, module.name));
      return `Module admin for module ${module.name.text} acquired`;
    }),
    dialect: 5,
  },
];
