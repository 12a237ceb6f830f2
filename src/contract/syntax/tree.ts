/** The nodes of the syntax tree of contract code. */

import type { Position } from '../errors.ts';
import type { ModuleName, QualifiedName } from '../names.ts';

export interface Node {
  readonly position: Position;
  /**
   * The source from the node's first character up to the next token or the end of the text, with white space and
   * comments.
   */
  readonly code: string;
}

/* Names. */

/** A name without dots: `f`. */
interface BareName extends Node {
  readonly kind: 'name';
  readonly name: string;
}

/**
 * A name of a module's member: `module.member` or `namespace.module.member`. `a.b` can also be the module `b` of the
 * namespace `a`.
 */
interface DottedName extends Node {
  readonly kind: 'dotted-name';
  readonly name: QualifiedName;
}

/** A name `reference::member`. The value of `reference`, such as a variable, is a module reference. */
export interface DynamicName extends Node {
  readonly kind: 'dynamic-name';
  readonly reference: string;
  readonly member: string;
}

export type Name = BareName | DottedName | DynamicName;

/* Types. */

export type PrimitiveType = 'integer' | 'decimal' | 'time' | 'bool' | 'string' | 'keyset' | 'guard' | 'unit';

export type Type =
  | { readonly kind: 'primitive'; readonly name: PrimitiveType }
  /** A list of items of the type `item`. If `item` is undefined, the items can be any values. */
  | { readonly kind: 'list'; readonly item: Type | undefined }
  /** An object with the fields of the schema. If `schema` is undefined, the object can have any fields. */
  | { readonly kind: 'object'; readonly schema: Name | undefined }
  /** A table whose rows have the fields of the schema. If `schema` is undefined, it can be any table. */
  | { readonly kind: 'table'; readonly schema: Name | undefined }
  /** `{name}`: for a parameter, an object with the fields of the schema; for a `deftable`, the schema of the rows. */
  | { readonly kind: 'schema'; readonly schema: Name }
  /** A reference to a module that implements all these interfaces. */
  | { readonly kind: 'module'; readonly interfaces: readonly ModuleName[] };

/** A parameter, a variable, or a field of a schema. If `type` is undefined, it can have any value. */
export interface Parameter {
  readonly position: Position;
  readonly name: string;
  readonly type: Type | undefined;
}

/* Expressions. */

interface IntegerLiteral extends Node {
  readonly kind: 'integer';
  readonly value: bigint;
}

/** The number mantissa · 10^−places. `places` is the number of digits after the decimal point in the source. */
interface DecimalLiteral extends Node {
  readonly kind: 'decimal';
  readonly mantissa: bigint;
  readonly places: number;
}

/** A quoted text (`"name"`) or a symbol (`'name`). */
interface TextLiteral extends Node {
  readonly kind: 'text';
  readonly value: string;
}

interface BooleanLiteral extends Node {
  readonly kind: 'boolean';
  readonly value: boolean;
}

/** The literal `()`, which only dialect 5 has. */
interface UnitLiteral extends Node {
  readonly kind: 'unit';
}

interface ListExpression extends Node {
  readonly kind: 'list';
  readonly items: readonly Expression[];
}

export interface ObjectExpression extends Node {
  readonly kind: 'object';
  /** The fields in the order of the source. If two fields have the same key, the value of the last one is used. */
  readonly fields: readonly { readonly key: string; readonly value: Expression }[];
}

/** A pair `"key" := variable` of a binding: the variable gets the object's value under the key. */
export interface BindingPair {
  /** In dialect 5, a text. In dialect 4, any expression whose value is a text. */
  readonly key: Expression;
  readonly variable: Parameter;
}

/**
 * A binding `{ "key" := variable, … }`, with the body in which the variables are visible. `code` is the source of the
 * braces without the body.
 */
export interface Binding extends Node {
  /** Has at least one pair. */
  readonly pairs: readonly BindingPair[];
  /** Has at least one expression. */
  readonly body: readonly Expression[];
}

export interface Application extends Node {
  readonly kind: 'application';
  /** What is called. In dialect 4, always a name. */
  readonly callee: Expression;
  /** The arguments; without the binding, if there is one. */
  readonly arguments: readonly Expression[];
  /** The binding after the arguments, with its body; undefined if there is none. */
  readonly binding: Binding | undefined;
}

export interface LetVariable {
  readonly variable: Parameter;
  readonly value: Expression;
}

export interface Let extends Node {
  readonly kind: 'let';
  /** Whether the source has `let*`, so that each variable is visible in the values of the following variables. */
  readonly isSequential: boolean;
  readonly variables: readonly LetVariable[];
  readonly body: readonly Expression[];
}

export interface Lambda extends Node {
  readonly kind: 'lambda';
  readonly parameters: readonly Parameter[];
  readonly body: readonly Expression[];
}

export interface Cond extends Node {
  readonly kind: 'cond';
  readonly branches: readonly { readonly condition: Expression; readonly value: Expression }[];
  readonly otherwise: Expression;
}

export interface WithCapability extends Node {
  readonly kind: 'with-capability';
  /** In dialect 4, always an application of a capability. In dialect 5, any expression whose value is one. */
  readonly capability: Expression;
  readonly body: readonly Expression[];
}

export type Expression =
  | IntegerLiteral
  | DecimalLiteral
  | TextLiteral
  | BooleanLiteral
  | UnitLiteral
  | Name
  | ListExpression
  | ObjectExpression
  | Application
  | Let
  | Lambda
  | Cond
  | WithCapability;

/* Definitions. The parser drops their properties (`@model`). */

interface Definition extends Node {
  readonly name: string;
  readonly documentation: string | undefined;
}

/** What functions, capabilities and defpacts have in common, with or without a body. */
interface Signature extends Definition {
  readonly parameters: readonly Parameter[];
  readonly returnType: Type | undefined;
}

export interface FunctionSignature extends Signature {
  readonly kind: 'defun-signature';
}

export interface Defun extends Signature {
  readonly kind: 'defun';
  readonly body: readonly Expression[];
}

/**
 * The word `@event` or `@managed` of a capability. A managed capability without a manager function can be acquired with
 * the same arguments only once in a transaction.
 */
export type CapabilityMeta =
  | { readonly kind: 'event' }
  | { readonly kind: 'managed'; readonly manager: { readonly parameter: string; readonly function: Name } | undefined };

export interface CapabilitySignature extends Signature {
  readonly kind: 'defcap-signature';
  readonly meta: CapabilityMeta | undefined;
}

export interface Defcap extends Signature {
  readonly kind: 'defcap';
  readonly meta: CapabilityMeta | undefined;
  readonly body: readonly Expression[];
}

export interface Defconst extends Definition {
  readonly kind: 'defconst';
  readonly type: Type | undefined;
  readonly value: Expression;
}

export interface Defschema extends Definition {
  readonly kind: 'defschema';
  readonly fields: readonly Parameter[];
}

export interface Deftable extends Definition {
  readonly kind: 'deftable';
  /** The schema of the rows. If undefined, rows can have any columns. */
  readonly schema: Name | undefined;
}

export interface Step extends Node {
  /** An expression for the name of the only participant that executes the step; undefined for all participants. */
  readonly entity: Expression | undefined;
  /** The expression that the step evaluates. */
  readonly value: Expression;
  /** The expression that a rollback of the step evaluates; undefined if the step cannot be rolled back. */
  readonly rollback: Expression | undefined;
}

export interface DefpactSignature extends Signature {
  readonly kind: 'defpact-signature';
}

export interface Defpact extends Signature {
  readonly kind: 'defpact';
  /** Has at least one step. The last step has no rollback. */
  readonly steps: readonly Step[];
}

/* Modules. */

export interface Use extends Node {
  readonly kind: 'use';
  readonly module: ModuleName;
  /** The hash that the module must have, in base64url; undefined for any hash. */
  readonly hash: string | undefined;
  /** The names to import from the module; undefined for all names. */
  readonly names: readonly string[] | undefined;
}

export interface Bless extends Node {
  readonly kind: 'bless';
  /** The hash of an earlier version of the module, in base64url. */
  readonly hash: string;
}

export interface Implements extends Node {
  readonly kind: 'implements';
  readonly module: ModuleName;
}

export type ModuleItem = Use | Bless | Implements | Defun | Defcap | Defconst | Defschema | Deftable | Defpact;

export type InterfaceItem = Use | FunctionSignature | CapabilitySignature | DefpactSignature | Defconst | Defschema;

/**
 * The condition for changing a module: enough keys of a keyset have signed, or the body of a capability of the module
 * succeeds.
 */
export type Governance =
  | { readonly kind: 'keyset'; readonly name: string }
  | { readonly kind: 'capability'; readonly name: string };

/** A module. In dialect 4, its hash is the hash of `code`. */
export interface Module extends Definition {
  readonly kind: 'module';
  readonly governance: Governance;
  /** Has at least one item. */
  readonly items: readonly ModuleItem[];
}

/** An interface. In dialect 4, its hash is the hash of `code`. */
export interface Interface extends Definition {
  readonly kind: 'interface';
  /** Has at least one item. */
  readonly items: readonly InterfaceItem[];
}

/**
 * A form that is in no other form. Functions and constants can be such forms only in dialect 5, which has them for
 * tests in the interactive interpreter.
 */
export type TopLevel = Module | Interface | Use | Defun | Defconst | Expression;
