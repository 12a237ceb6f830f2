/** Finds modules and their members. */

import { ContractError } from '../errors.ts';
import { ModuleName, QualifiedName } from '../names.ts';
import type { Defschema, Type } from '../syntax/tree.ts';
import type { ModuleRef, Value } from '../values/values.ts';
import { BUILT_IN_SCHEMAS } from './built-ins.ts';
import { type LoadedModule, Member, type Names, referenceTo, textOfName } from './module.ts';
import type { Evaluation } from './native.ts';

/** Finds the module of exactly this name. */
export function findModule(evaluation: Evaluation, name: ModuleName): LoadedModule | undefined {
  const { state, database } = evaluation;
  const known = state.modules.get(name.text);
  if (known) return known;
  const stored = database.modules.get(name.text);
  if (stored) {
    evaluation.gas.lookUpModule();
    rememberModule(evaluation, stored);
  }
  return stored;
}

export function rememberModule(evaluation: Evaluation, module: LoadedModule): void {
  const modules = new Map(evaluation.state.modules).set(module.name.text, module);
  evaluation.state = { ...evaluation.state, modules };
}

/** Finds a module by its full name, or by its name within the current namespace. */
export function resolveModule(evaluation: Evaluation, name: ModuleName): LoadedModule | undefined {
  const found = findModule(evaluation, name);
  const namespace = evaluation.state.namespace?.name;
  if (found || name.namespace !== undefined || namespace === undefined) return found;
  return findModule(evaluation, new ModuleName(name.name, namespace));
}

/** @throws ContractError if there is no such module */
export function requireModule(evaluation: Evaluation, name: ModuleName): LoadedModule {
  const module = resolveModule(evaluation, name);
  if (module) return module;
  const message =
    evaluation.dialect === 4 ? `Unable to resolve module ${name.text}` : `Cannot find module: ${name.text}`;
  throw new ContractError('eval', message);
}

/** @param name `module.f` or `namespace.module.f`; `a.b` may also be the module `b` of the namespace `a` */
export function findQualified(evaluation: Evaluation, name: QualifiedName): Member | ModuleRef | undefined {
  const module = resolveModule(evaluation, name.module);
  if (module) return module.members.get(name.member);
  if (name.module.namespace !== undefined) return undefined;
  const other = findModule(evaluation, new ModuleName(name.member, name.module.name));
  return other && referenceTo(other);
}

/** The names that code outside of modules can use: those that the transaction has defined or imported so far. */
export class TransactionNames implements Names {
  readonly #evaluation: Evaluation;

  constructor(evaluation: Evaluation) {
    this.#evaluation = evaluation;
  }

  find(name: string): Value | undefined {
    const imported = this.#evaluation.state.imported.get(name);
    if (imported) return imported;
    const qualified = QualifiedName.parse(name);
    if (qualified) return findQualified(this.#evaluation, qualified);
    const module = resolveModule(this.#evaluation, new ModuleName(name));
    return module && referenceTo(module);
  }
}

/** @returns the schema that a type names; undefined if the type names none, or if no schema has that name */
export function schemaOf(type: Type, names: Names): Member<Defschema> | undefined {
  if (type.kind !== 'object' && type.kind !== 'table' && type.kind !== 'schema') return undefined;
  if (!type.schema) return undefined;
  const name = textOfName(type.schema);
  const found = names.find(name) ?? BUILT_IN_SCHEMAS.get(name);
  return found instanceof Member && found.is('defschema') ? found : undefined;
}
