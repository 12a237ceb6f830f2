/** Finds modules and their members by names. */

import { ContractError } from '../errors.ts';
import { ModuleName, QualifiedName } from '../names.ts';
import type { Defschema, Type } from '../syntax/tree.ts';
import type { ModuleRef, Value } from '../values/values.ts';
import { BUILT_IN_SCHEMAS } from './built-ins.ts';
import { type LoadedModule, Member, type Names, referenceTo, textOfName } from './module.ts';
import type { Evaluator } from './native.ts';

/**
 * Finds the module of exactly this name. Only the first look-up in a transaction is charged. Later ones find the same
 * version of the module.
 */
export function findModule(evaluator: Evaluator, name: ModuleName): LoadedModule | undefined {
  const { state, database } = evaluator;
  const known = state.modules.get(name.text);
  if (known) return known;
  const stored = database.modules.get(name.text);
  if (stored) {
    evaluator.gas.lookUpModule();
    evaluator.chargeForReading(stored);
    rememberModule(evaluator, stored);
  }
  return stored;
}

/** Makes this version the one that later look-ups of the transaction find. */
export function rememberModule(evaluator: Evaluator, module: LoadedModule): void {
  const modules = new Map(evaluator.state.modules).set(module.name.text, module);
  evaluator.state = { ...evaluator.state, modules };
}

/** Finds a module by its full name. If there is none, a name without a namespace is tried in the current namespace. */
export function resolveModule(evaluator: Evaluator, name: ModuleName): LoadedModule | undefined {
  const found = findModule(evaluator, name);
  const namespace = evaluator.state.namespace?.name;
  if (found || name.namespace !== undefined || namespace === undefined) return found;
  return findModule(evaluator, new ModuleName(name.name, namespace));
}

/** @returns as `resolveModule` @throws ContractError if there is no such module */
export function requireModule(evaluator: Evaluator, name: ModuleName): LoadedModule {
  const module = resolveModule(evaluator, name);
  if (module) return module;
  const message =
    evaluator.dialect === 4 ? `Unable to resolve module ${name.text}` : `Cannot find module: ${name.text}`;
  throw new ContractError('eval', message);
}

/**
 * @param name `module.f` or `namespace.module.f`. If there is no module `a`, `a.b` can be the module `b` of the
 *   namespace `a`
 * @returns the member, or a reference to the module `b`; undefined if there is neither
 */
export function findQualified(evaluator: Evaluator, name: QualifiedName): Member | ModuleRef | undefined {
  const module = resolveModule(evaluator, name.module);
  if (module) return module.members.get(name.member);
  if (name.module.namespace !== undefined) return undefined;
  const other = findModule(evaluator, new ModuleName(name.member, name.module.name));
  return other && referenceTo(other);
}

/**
 * The names that code outside of modules can use: the names in `State.imported`, modules, and members of modules by
 * their qualified names.
 */
export class TransactionNames implements Names {
  readonly #evaluator: Evaluator;

  constructor(evaluator: Evaluator) {
    this.#evaluator = evaluator;
  }

  find(name: string): Value | undefined {
    const imported = this.#evaluator.state.imported.get(name);
    if (imported) return imported;
    const qualified = QualifiedName.parse(name);
    if (qualified) return findQualified(this.#evaluator, qualified);
    const module = resolveModule(this.#evaluator, new ModuleName(name));
    return module && referenceTo(module);
  }
}

/**
 * @param names resolves the names in the type
 * @returns the schema of an object type, a table type or a type `{name}`; undefined for any other type, for a type that
 *   names no schema, and if `names` finds no schema of this name
 */
export function schemaOf(type: Type, names: Names): Member<Defschema> | undefined {
  if (type.kind !== 'object' && type.kind !== 'table' && type.kind !== 'schema') return undefined;
  if (!type.schema) return undefined;
  const name = textOfName(type.schema);
  const found = names.find(name) ?? BUILT_IN_SCHEMAS.get(name);
  return found instanceof Member && found.is('defschema') ? found : undefined;
}

/** @returns the module of the innermost call; undefined for code outside of modules */
export function callingModule({ context }: Evaluator): LoadedModule | undefined {
  return context.frame?.member.module;
}
