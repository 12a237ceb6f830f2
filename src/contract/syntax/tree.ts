/** The syntax tree of contract code. */

import type { Position } from '../errors.ts';
import type { ModuleName, QualifiedName } from '../names.ts';

export interface Node {
  readonly position: Position;
  /** The source from the node's first character up to the next token or the end of the text. */
  readonly code: string;
}

/* Names. */

/** `f`. */
interface BareName extends Node {
  readonly kind: 'name';
  readonly name: string;
}

/** `module.member` or `namespace.module.member`. `a.b` may also mean the module `b` of the namespace `a`. */
interface DottedName extends Node {
  readonly kind: 'dotted-name';
  readonly name: QualifiedName;
}

/** `reference::member`, where the reference is a variable that holds a module. */
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
  /** Without `item`, the elements may be anything. */
  | { readonly kind: 'list'; readonly item: Type | undefined }
  /** Without `schema`, the fields may be any. */
  | { readonly kind: 'object'; readonly schema: Name | undefined }
  | { readonly kind: 'table'; readonly schema: Name | undefined }
  /** `{name}`. Only dialect 4 allows this type for parameters. */
  | { readonly kind: 'schema'; readonly schema: Name }
  | { readonly kind: 'module'; readonly interfaces: readonly ModuleName[] };

/** A name with a type: a parameter, a variable, or a field of a schema. Without a type, the value may be anything. */
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

/** mantissa · 10^-places, with as many places as were written. */
interface DecimalLiteral extends Node {
  readonly kind: 'decimal';
  readonly mantissa: bigint;
  readonly places: number;
}

/** A text or a symbol. */
interface TextLiteral extends Node {
  readonly kind: 'text';
  readonly value: string;
}

interface BooleanLiteral extends Node {
  readonly kind: 'boolean';
  readonly value: boolean;
}

/** `()` of dialect 5. */
interface UnitLiteral extends Node {
  readonly kind: 'unit';
}

interface ListExpression extends Node {
  readonly kind: 'list';
  readonly items: readonly Expression[];
}

export interface ObjectExpression extends Node {
  readonly kind: 'object';
  /** The fields are in the order written. If a key occurs twice, the last one counts. */
  readonly fields: readonly { readonly key: string; readonly value: Expression }[];
}

export interface BindingPair {
  /** The key is a text in dialect 5, and any expression with a text as its value in dialect 4. */
  readonly key: Expression;
  readonly variable: Parameter;
}

/**
 * `{ "key" := variable, … }` and the body in which the variables are visible. `code` is the source of the braces only.
 */
export interface Binding extends Node {
  readonly pairs: readonly BindingPair[];
  /** There is at least one expression. */
  readonly body: readonly Expression[];
}

export interface Application extends Node {
  readonly kind: 'application';
  /** The callee is always a name in dialect 4. */
  readonly callee: Expression;
  /** All arguments before the binding. */
  readonly arguments: readonly Expression[];
  /** The last argument, if it is a binding with its body. */
  readonly binding: Binding | undefined;
}

export interface LetVariable {
  readonly variable: Parameter;
  readonly value: Expression;
}

export interface Let extends Node {
  readonly kind: 'let';
  /** Whether the expression was written as `let*`. */
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
  /** The capability is always an application in dialect 4. */
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

/* Definitions. Properties (`@model`) are read and dropped. */

interface Definition extends Node {
  readonly name: string;
  readonly documentation: string | undefined;
}

/** The signature of a function, a capability or a defpact in an interface. */
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

/** `@event` or `@managed` of a capability. A managed capability without a manager can be acquired once. */
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
  /** Without a schema, a row may be anything. */
  readonly schema: Name | undefined;
}

export interface Step extends Node {
  /** The name of the only participant that executes the step; undefined for all participants. */
  readonly entity: Expression | undefined;
  readonly value: Expression;
  readonly rollback: Expression | undefined;
}

export interface DefpactSignature extends Signature {
  readonly kind: 'defpact-signature';
}

export interface Defpact extends Signature {
  readonly kind: 'defpact';
  /** There is at least one step. The last one has no rollback. */
  readonly steps: readonly Step[];
}

/* Modules. */

export interface Use extends Node {
  readonly kind: 'use';
  readonly module: ModuleName;
  /** The hash is in base64url. */
  readonly hash: string | undefined;
  /** The imported names; all if absent. */
  readonly names: readonly string[] | undefined;
}

export interface Bless extends Node {
  readonly kind: 'bless';
  /** The hash is in base64url. */
  readonly hash: string;
}

export interface Implements extends Node {
  readonly kind: 'implements';
  readonly module: ModuleName;
}

export type ModuleItem = Use | Bless | Implements | Defun | Defcap | Defconst | Defschema | Deftable | Defpact;

export type InterfaceItem = Use | FunctionSignature | CapabilitySignature | DefpactSignature | Defconst | Defschema;

/** Who may change a module: the owners of a keyset, or whoever can acquire a capability of the module. */
export type Governance =
  | { readonly kind: 'keyset'; readonly name: string }
  | { readonly kind: 'capability'; readonly name: string };

/** The module's hash is the hash of `code`. */
export interface Module extends Definition {
  readonly kind: 'module';
  readonly governance: Governance;
  /** There is at least one item. */
  readonly items: readonly ModuleItem[];
}

export interface Interface extends Definition {
  readonly kind: 'interface';
  /** There is at least one item. */
  readonly items: readonly InterfaceItem[];
}

/** What may stand outside of all brackets. Dialect 5 allows definitions there, only for tests. */
export type TopLevel = Module | Interface | Use | Defun | Defconst | Expression;
