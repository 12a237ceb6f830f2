/** Loads modules and interfaces. */

import { withReserved } from '../capabilities/grants.ts';
import { administer, enforceNamedKeyset, grantAdministration } from '../capabilities/guards.ts';
import type { Dialect } from '../dialect.ts';
import { ContractError } from '../errors.ts';
import { chargeForInstallation, chargeForTranslation } from '../gas/loading5.ts';
import { ModuleName } from '../names.ts';
import { findModule, rememberModule, resolveModule } from '../runtime/lookup.ts';
import {
  type Definition,
  isInterface,
  type LoadedModule,
  Member,
  memberNameOf,
  type Names,
} from '../runtime/module.ts';
import type { Evaluator } from '../runtime/native.ts';
import { Scope } from '../runtime/scope.ts';
import { checked } from '../runtime/type-faults.ts';
import { sortedModules } from '../runtime/typecheck.ts';
import type { Defconst, Implements, Interface, Module } from '../syntax/tree.ts';
import { moduleHash5, unknownHash } from '../translation/module-hash.ts';
import { hashText } from '../values/hash.ts';
import { isStorable, ModuleRef, type Value } from '../values/values.ts';
import { bringIn, bringInFrom, requireHash, unknownModuleText } from './imports.ts';
import { checkInterface } from './interfaces.ts';
import { enforceInstallation } from './namespaces.ts';
import { refuseShadow, type Visit, visitDefinition } from './resolution.ts';

const FOR_TESTS_ONLY =
  'repl native disallowed in module code. If you want to use this, enable them with (env-enable-repl-natives true)';

/**
 * Installs a module, or replaces an installed module of the same name.
 * @returns the text that the interpreter prints
 * @throws ContractError if the module is faulty, or must not be installed
 */
export function loadModule(evaluator: Evaluator, syntax: Module): string {
  refuseInstallation(evaluator);
  const name = new ModuleName(syntax.name, evaluator.state.namespace?.name);
  const existing = findModule(evaluator, name);
  if (existing && isInterface(existing)) {
    const message4 = `Name overlap: module ${syntax.name} overlaps with interface  ${name.text}`;
    const message = evaluator.dialect === 4 ? message4 : `Expected module, found interface: ${name.text}`;
    throw new ContractError('eval', message);
  }
  if (existing) administerForUpgrade(evaluator, existing);
  enforceInstallation(evaluator, existing !== undefined);
  const { governance } = syntax;
  if (governance.kind === 'keyset') {
    withReserved(evaluator, 'MODULE_KEYSET', name.text, () => enforceNamedKeyset(evaluator, governance.name));
  }
  // In dialect 4, the installation of a new module with a keyset does not give the admin rights. The first use of these
  // rights therefore enforces the keyset again.
  if (governance.kind !== 'keyset' || evaluator.dialect === 5) grantAdministration(evaluator, name);
  const module = new Loader(evaluator, name, syntax).load();
  refuseGovernance(module, syntax, evaluator.dialect);
  install(evaluator, module);
  return `Loaded module ${name.text}, hash ${module.hash}`;
}

/**
 * Acquires the admin rights for an installed module that is to be replaced.
 * @throws ContractError if the governance of the installed module does not pass
 */
function administerForUpgrade(evaluator: Evaluator, module: LoadedModule): void {
  const ask = (): void => administer(evaluator, module);
  const { syntax } = module;
  if (syntax.kind === 'module' && syntax.governance.kind === 'keyset') {
    withReserved(evaluator, 'MODULE_KEYSET', module.name.text, ask);
  } else ask();
}

/**
 * Installs an interface, which can never be replaced.
 * @returns the text that the interpreter prints
 * @throws ContractError if the interface is faulty, exists already, or must not be installed
 */
export function loadInterface(evaluator: Evaluator, syntax: Interface): string {
  const { dialect, state } = evaluator;
  refuseInstallation(evaluator);
  enforceInstallation(evaluator, false);
  const name = new ModuleName(syntax.name, state.namespace?.name);
  if (findModule(evaluator, name)) {
    const message4 = 'Existing interface found (interfaces cannot be upgraded)';
    throw new ContractError('eval', dialect === 4 ? message4 : `Interface cannot be upgraded: ${name.text}`);
  }
  const module = new Loader(evaluator, name, syntax).load();
  install(evaluator, module);
  return dialect === 4 ? `Loaded interface ${name.text}` : `Loaded interface ${name.text}, hash ${module.hash}`;
}

function refuseInstallation({ environment }: Evaluator): void {
  if (!environment.flags.has('DisableModuleInstall')) return;
  throw new ContractError('eval', 'Module/interface install not supported');
}

function refuseGovernance({ name, members }: LoadedModule, { governance }: Module, dialect: Dialect): void {
  if (governance.kind === 'keyset') return;
  const member = members.get(governance.name);
  if (dialect === 5) {
    if (member?.is('defcap') && member.definition.parameters.length === 0) return;
    const message = 'Invalid governance. Must be a 0-argument defcap or a keyset. Found';
    throw new ContractError('eval', `${message} ${name.text}.${governance.name}`);
  }
  if (!member) throw new ContractError('eval', 'Unknown module governance reference');
  if (!member.is('defcap')) throw new ContractError('eval', 'Invalid module governance, must be defcap');
}

function install(evaluator: Evaluator, module: LoadedModule): void {
  chargeForInstallation(evaluator, module);
  evaluator.kept?.addEntry([...module.members.values()].flatMap(({ value }) => (value === undefined ? [] : [value])));
  evaluator.database.modules.set(module.name.text, module);
  rememberModule(evaluator, module);
  bringIn(evaluator, module);
}

/**
 * The names that the code of a module can use: the name of the module, its definitions, and all other names with the
 * values that they had when the module was loaded.
 */
class ModuleNames implements Names {
  /** The values of the names that the module does not define. */
  readonly found = new Map<string, Value>();
  readonly #members: ReadonlyMap<string, Member>;
  /** The name `f` of each definition, by `module.f` and by `namespace.module.f`. */
  readonly #aliases = new Map<string, string>();
  readonly #reference: ModuleRef;

  constructor(reference: ModuleRef, members: ReadonlyMap<string, Member>) {
    this.#reference = reference;
    this.#members = members;
  }

  addAliases(name: string): void {
    const { name: module } = this.#reference;
    this.#aliases.set(`${module.name}.${name}`, name);
    this.#aliases.set(`${module.text}.${name}`, name);
  }

  /** @returns the module's definition with this short or qualified name; undefined if there is none */
  own(name: string): Member | undefined {
    return this.#members.get(this.#aliases.get(name) ?? name);
  }

  find(name: string): Value | undefined {
    const meant = this.own(name) ?? this.found.get(name);
    const { name: module } = this.#reference;
    return meant ?? (name === module.name || name === module.text ? this.#reference : undefined);
  }
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

/** Makes a module or an interface from its syntax. */
class Loader {
  readonly #evaluator: Evaluator;
  readonly #syntax: Module | Interface;
  readonly #members = new Map<string, Member>();
  readonly #names: ModuleNames;
  readonly #module: Writable<LoadedModule>;

  constructor(evaluator: Evaluator, name: ModuleName, syntax: Module | Interface) {
    this.#evaluator = evaluator;
    this.#syntax = syntax;
    const interfaces = this.#interfaces();
    const referredInterfaces = evaluator.dialect === 4 ? interfaces : sortedModules(interfaces);
    const { dialect } = evaluator;
    const own = new ModuleRef(name, syntax.kind === 'module' ? referredInterfaces : undefined, dialect === 5);
    this.#names = new ModuleNames(own, this.#members);
    this.#module = {
      dialect,
      name,
      syntax,
      hash: dialect === 4 ? hashText(syntax.code) : unknownHash(syntax.kind),
      blessed: this.#blessed(),
      interfaces,
      referredInterfaces,
      members: this.#members,
      names: this.#names,
      transactionHash: evaluator.environment.hash,
    };
  }

  /** @returns the module, which is not installed yet @throws ContractError if the module is faulty */
  load(): LoadedModule {
    refuseShadow(this.#evaluator, this.#syntax.name, this.#syntax.position);
    for (const item of this.#syntax.items) if (item.kind === 'use') bringInFrom(this.#evaluator, item);
    for (const item of this.#syntax.items) if ('name' in item) this.#define(item);
    this.#charge();
    const order = this.#resolve();
    chargeForTranslation(this.#evaluator, this.#module);
    for (const member of order) if (member.is('defconst')) this.#evaluateConstant(member);
    for (const name of this.#module.interfaces) {
      const found = resolveModule(this.#evaluator, name);
      if (found) checkInterface(this.#module, found, this.#evaluator.dialect);
    }
    if (this.#module.dialect === 5) this.#module.hash = moduleHash5(this.#module, this.#evaluator);
    return this.#module;
  }

  #blessed(): ReadonlySet<string> {
    const hashes = this.#syntax.items.flatMap((item) => (item.kind === 'bless' ? [item.hash] : []));
    if (this.#evaluator.dialect === 5) for (const hash of hashes) requireHash(hash);
    return new Set(hashes);
  }

  #charge(): void {
    const { name, kind, code } = this.#syntax;
    this.#evaluator.gas.loadModule(new ModuleName(name), [...this.#members.keys()], code, kind === 'interface');
  }

  #interfaces(): readonly ModuleName[] {
    const items = this.#syntax.items.filter((item): item is Implements => item.kind === 'implements');
    const { dialect } = this.#evaluator;
    if (dialect === 4) items.reverse();
    return items.map(({ module }) => {
      const found = resolveModule(this.#evaluator, module);
      if (!found) {
        const message = dialect === 4 ? `Interface not defined: ${module.text}` : unknownModuleText(module);
        throw new ContractError('eval', message);
      }
      if (isInterface(found)) return found.name;
      const message4 = 'Unexpected: module found in interface position while solving constraints';
      const message5 = `Invalid Interface attempted to be used as module reference: ${module.text}`;
      throw new ContractError('eval', dialect === 4 ? message4 : message5);
    });
  }

  #define(definition: Definition): void {
    const { name, position } = definition;
    refuseShadow(this.#evaluator, name, position);
    if (this.#evaluator.isNative(name)) {
      throw new ContractError('eval', `definitions cannot overlap with native names: ${name}`, position);
    }
    this.#members.set(name, new Member(this.#module, definition));
    this.#names.addAliases(name);
  }

  /**
   * Looks up all names in the module.
   * @returns the members, each of them after all members that it uses
   * @throws ContractError for an unknown name, and for members that use each other in a cycle
   */
  #resolve(): readonly Member[] {
    const needs = new Map<string, Set<string>>();
    for (const [name, { definition }] of this.#members) {
      const own = new Set<string>();
      needs.set(name, own);
      this.#refuseUnknownManager(definition);
      const visit: Visit = (used, position) => {
        const member = this.#names.own(used);
        if (member) own.add(member.definition.name);
        else this.#find(used, position);
      };
      visitDefinition(definition, this.#evaluator.dialect, visit, (variable, position) =>
        refuseShadow(this.#evaluator, variable, position),
      );
    }
    return this.#sorted(needs);
  }

  /** @throws ContractError of dialect 5 if the manager of an interface's capability is no function of the interface */
  #refuseUnknownManager(definition: Definition): void {
    if (this.#evaluator.dialect === 4 || definition.kind !== 'defcap-signature') return;
    const { meta, position } = definition;
    if (meta?.kind !== 'managed' || !meta.manager) return;
    const name = memberNameOf(meta.manager.function);
    if (this.#members.get(name)?.is('defun-signature')) return;
    throw new ContractError('eval', `Module ${this.#module.name.text} has no such member: ${name}`, position);
  }

  /** Looks up a name that the module does not define, and keeps its value. @throws ContractError for an unknown name */
  #find(name: string, position: ContractError['position']): void {
    if (this.#names.found.has(name) || this.#evaluator.isNative(name)) return;
    const meant = this.#evaluator.transactionNames.find(name) ?? this.#names.find(name);
    if (!meant) {
      if (this.#evaluator.isForTestsOnly(name)) throw new ContractError('eval', FOR_TESTS_ONLY, position);
      if (this.#evaluator.isKnown(name)) return;
      const { dialect } = this.#evaluator;
      throw new ContractError(
        'eval',
        dialect === 4 ? `Cannot resolve "${name}"` : `Unbound variable ${name}`,
        position,
      );
    }
    this.#names.found.set(name, meant);
  }

  /** @throws ContractError for members that use each other in a cycle */
  #sorted(needs: ReadonlyMap<string, ReadonlySet<string>>): readonly Member[] {
    const neededBy = new Map<string, string[]>();
    const open = new Map<string, number>();
    for (const [name, own] of needs) {
      open.set(name, own.size);
      for (const each of own) {
        const users = neededBy.get(each);
        if (users) users.push(name);
        else neededBy.set(each, [name]);
      }
    }
    const order = [...needs.keys()].filter((name) => open.get(name) === 0);
    for (const name of order) {
      for (const user of neededBy.get(name) ?? []) {
        const left = (open.get(user) ?? 0) - 1;
        open.set(user, left);
        if (left === 0) order.push(user);
      }
    }
    if (order.length < needs.size) this.#refuseRecursion([...needs.keys()].filter((name) => open.get(name) !== 0));
    return order.flatMap((name) => this.#members.get(name) ?? []);
  }

  #refuseRecursion(names: readonly string[]): never {
    const { text } = this.#module.name;
    const message =
      this.#evaluator.dialect === 4
        ? `Recursion detected: [${names.map((name) => `${text}.${name}`).join(', ')}]`
        : `Recursive cycle detected in Module ${text} in the following functions: [${names.join(', ')}]`;
    throw new ContractError('eval', message, this.#members.get(names[0])?.definition.position);
  }

  #evaluateConstant({ definition }: Member<Defconst>): void {
    const { name, type, value, position } = definition;
    const result = this.#evaluator.within({ access: 'none', frame: undefined }, (): Value => {
      const evaluated = this.#evaluator.evaluate(value, new Scope(this.#names));
      if (this.#module.dialect === 5 && !isStorable(evaluated)) {
        throw new ContractError('eval', 'Evaluation did not reduce to a value', value.position);
      }
      return checked({ type, position }, evaluated, this.#names, this.#evaluator);
    });
    this.#members.set(name, new Member(this.#module, definition, result));
  }
}
