/** Loaded modules and interfaces, their members, and how names in their code are resolved. */

import type { Dialect } from '../dialect.ts';
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
import { hashText } from '../values/hash.ts';
import { ModuleRef, Unstorable, type Value } from '../values/values.ts';

/** A definition in a module, or a definition or signature in an interface. */
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

/** The definitions with parameters and with code that runs when they are called. */
export type Callable = Defun | Defcap | Defpact;

/** Resolves the names in some code that are neither variables nor natives. */
export interface Names {
  /**
   * @param name `f`, `module.f`, `namespace.module.f`, or the name of a module
   * @returns the member or module of this name, or another value; undefined for an unknown name
   */
  find(name: string): Value | undefined;
}

/** A module or an interface that code can use. Once it is loaded, it does not change. */
export interface LoadedModule {
  readonly dialect: Dialect;
  readonly name: ModuleName;
  readonly syntax: Module | Interface;
  /**
   * In base64url: BLAKE2b-256 of `syntax.code` in UTF-8, or in dialect 5 of the translated code (`moduleHash5`).
   */
  readonly hash: string;
  /** Hashes of earlier versions. Their tables can still be used, and what they have yielded can be resumed. */
  readonly blessed: ReadonlySet<string>;
  /**
   * The interfaces that the module implements, in the order of its code, which dialect 4 reverses; empty for an
   * interface.
   */
  readonly interfaces: readonly ModuleName[];
  /** The same in the order in which a reference to the module names them: in dialect 5, sorted. */
  readonly referredInterfaces: readonly ModuleName[];
  /** The members by their names without the module. */
  readonly members: ReadonlyMap<string, Member>;
  /**
   * Resolves the names in the module's code. The name of another module's member has the meaning that the name had when
   * this module was loaded.
   */
  readonly names: Names;
  /** The hash of the transaction that has loaded the module, in base64url. */
  readonly transactionHash: string;
}

/** By module: its hash in generation 4. A module may be used many times, and its code may be long. */
const hashesOf4 = new WeakMap<LoadedModule, string>();

/**
 * @returns whether this is the hash that generation 4 gave the module. Nodes keep that hash of a module that was
 *   deployed before they spoke generation 5, so code of theirs can name it
 */
export function isHashOf4(hash: string, module: LoadedModule): boolean {
  let found = hashesOf4.get(module);
  if (found === undefined) {
    found = hashText(module.syntax.code);
    hashesOf4.set(module, found);
  }
  return hash === found;
}

/** A definition together with its module. A member is a value, but cannot be stored in a table. */
export class Member<Kind extends Definition = Definition> extends Unstorable {
  readonly module: LoadedModule;
  readonly definition: Kind;
  /** The value of a constant; undefined before the constant is evaluated, and for any other definition. */
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

/** A table of a module, as a value that code can pass to natives. */
export class Table extends Unstorable {
  override readonly type5 = 'table';
  readonly module: LoadedModule;
  readonly definition: Deftable;
  /** The schema, whose fields are the columns; undefined for a table without a schema. */
  readonly schema: Member<Defschema> | undefined;

  constructor(module: LoadedModule, definition: Deftable, schema: Member<Defschema> | undefined) {
    super();
    this.module = module;
    this.definition = definition;
    this.schema = schema;
  }

  /** The name in the database: the module's name, an underscore, and the name of the definition. */
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

/** @returns the table that a `deftable` defines */
export function tableOf({ module, definition }: Member<Deftable>): Table {
  const schema = definition.schema && module.names.find(textOfName(definition.schema));
  return new Table(module, definition, schema instanceof Member && schema.is('defschema') ? schema : undefined);
}

/** @returns the name of the member, without its module */
export function memberNameOf(name: Name): string {
  if (name.kind === 'name') return name.name;
  return name.kind === 'dotted-name' ? name.name.member : name.member;
}

/** @returns the name as a text, as `Names.find` expects it */
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

/** @returns a reference to the module or interface, as a value */
export function referenceTo(module: LoadedModule): ModuleRef {
  const interfaces = isInterface(module) ? undefined : module.referredInterfaces;
  return new ModuleRef(module.name, interfaces, module.dialect === 5);
}
