/** Loaded modules and interfaces, with their definitions and names. */

import { type ModuleName, QualifiedName } from '../names.ts';
import type {
  CapabilitySignature,
  Defcap,
  Defconst,
  Defpact,
  DefpactSignature,
  Defschema,
  Deftable,
  Defun,
  FunctionSignature,
  Interface,
  Module,
  Name,
} from '../syntax/tree.ts';
import { ModuleRef, Unstorable, type Value } from '../values/values.ts';

/** Everything that has a name in a module or an interface. */
export type Definition =
  | Defun
  | Defcap
  | Defconst
  | Defschema
  | Deftable
  | Defpact
  | FunctionSignature
  | CapabilitySignature
  | DefpactSignature;

/** Everything that can be called: functions, capabilities and defpacts. */
export type Callable = Defun | Defcap | Defpact;

/** Resolves the names in a piece of code, apart from variables and natives. */
export interface Names {
  /**
   * @param name `f`, `module.f`, `namespace.module.f`, or the name of a module
   * @returns undefined for an unknown name
   */
  find(name: string): Value | undefined;
}

/** A module or an interface that code can use. It never changes after loading. */
export interface LoadedModule {
  readonly name: ModuleName;
  readonly syntax: Module | Interface;
  /** BLAKE2b-256 of the form's text, in base64url. */
  readonly hash: string;
  /** The hashes of earlier versions whose tables and yields this version accepts. */
  readonly blessed: ReadonlySet<string>;
  /** The interfaces that a module implements, in the order written. */
  readonly interfaces: readonly ModuleName[];
  /** The definitions by their names. */
  readonly members: ReadonlyMap<string, Member>;
  /** Resolves the names in the module's code to their meanings at the time of loading. */
  readonly names: Names;
  /** The hash of the transaction that has loaded the module. */
  readonly transactionHash: string;
}

/** A definition with its module. Code can also use the member as a value, but cannot store it. */
export class Member<Kind extends Definition = Definition> extends Unstorable {
  readonly module: LoadedModule;
  readonly definition: Kind;
  /** The value of a constant, once it is evaluated; undefined for other definitions. */
  readonly value: Value | undefined;

  constructor(module: LoadedModule, definition: Kind, value?: Value) {
    super();
    this.module = module;
    this.definition = definition;
    this.value = value;
  }

  get name(): QualifiedName {
    return new QualifiedName(this.module.name, this.definition.name);
  }

  override get type(): string {
    return this.definition.kind;
  }

  is<Wanted extends Definition['kind']>(kind: Wanted): this is Member<Extract<Definition, { kind: Wanted }>> {
    return this.definition.kind === kind;
  }

  override toString(): string {
    return this.name.text;
  }

  override equals(other: Unstorable): boolean {
    return other instanceof Member && other.name.text === this.name.text;
  }
}

/** A table of a module, as a value. */
export class Table extends Unstorable {
  override readonly type5 = 'table';
  readonly module: LoadedModule;
  readonly definition: Deftable;
  /** The columns; undefined for a table without a schema. */
  readonly schema: Member<Defschema> | undefined;

  constructor(module: LoadedModule, definition: Deftable, schema: Member<Defschema> | undefined) {
    super();
    this.module = module;
    this.definition = definition;
    this.schema = schema;
  }

  /** The table's name in the database. */
  get name(): string {
    return `${this.module.name.text}_${this.definition.name}`;
  }

  override get type(): string {
    return `table:${this.schema ? `{${this.schema.definition.name}}` : '*'}`;
  }

  override toString(): string {
    return `${this.module.name.text}.${this.definition.name}`;
  }

  override equals(other: Unstorable): boolean {
    return other instanceof Table && other.name === this.name;
  }
}

/** @returns a table's definition as a value */
export function tableOf({ module, definition }: Member<Deftable>): Table {
  const schema = definition.schema && module.names.find(textOfName(definition.schema));
  return new Table(module, definition, schema instanceof Member && schema.is('defschema') ? schema : undefined);
}

/** @returns the text by which `Names.find` finds a name */
export function textOfName(name: Name): string {
  switch (name.kind) {
    case 'name':
      return name.name;
    case 'dotted-name':
      return name.name.text;
    case 'dynamic-name':
      return `${name.reference}::${name.member}`;
  }
}

export function isInterface(module: LoadedModule): module is LoadedModule & { readonly syntax: Interface } {
  return module.syntax.kind === 'interface';
}

/** @returns the module as a value */
export function referenceTo(module: LoadedModule): ModuleRef {
  return new ModuleRef(module.name, isInterface(module) ? undefined : module.interfaces);
}
