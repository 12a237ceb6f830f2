/**
 * The smaller language into which dialect 5 translates the code of modules: in it, `let` has one variable, a body is a
 * chain of pairs, and a binding is a lambda. Gas counts the size of this code, and a module's hash is its hash.
 */

import type { ModuleName, QualifiedName } from '../names.ts';
import type { Member } from '../runtime/module.ts';
import type { PrimitiveType } from '../syntax/tree.ts';
import type { Decimal } from '../values/decimal.ts';
import type { Unit, Value } from '../values/values.ts';

export interface Schema5 {
  readonly name: QualifiedName;
  readonly fields: Fields5;
}

/** The types of a schema's fields, sorted by their names. If a type is undefined, the field can have any value. */
export type Fields5 = readonly (readonly [string, Type5 | undefined])[];

export type Type5 =
  | { readonly kind: 'primitive'; readonly name: Exclude<PrimitiveType, 'keyset'> }
  /** If `item` is undefined, the items can be any values. */
  | { readonly kind: 'list'; readonly item: Type5 | undefined }
  /** If `schema` is undefined, the fields can be any. */
  | { readonly kind: 'object' | 'table'; readonly schema: Schema5 | undefined }
  /** The interfaces are sorted. */
  | { readonly kind: 'module'; readonly interfaces: readonly ModuleName[] };

/** A parameter or a variable; also the name and the result of a function. */
export interface Parameter5 {
  readonly name: string;
  readonly type: Type5 | undefined;
}

/** The language's own forms, which are no functions. */
export type FormName =
  | 'and'
  | 'or'
  | 'if'
  | 'enforce-one'
  | 'enforce'
  | 'with-capability'
  | 'try'
  | 'create-user-guard'
  | 'error'
  | 'pure';

export type Term =
  /** `index` is the number of variables that are declared between the variable and its use. */
  | { readonly kind: 'variable'; readonly name: string; readonly index: number }
  | { readonly kind: 'dynamic-name'; readonly reference: string; readonly index: number; readonly member: string }
  | { readonly kind: 'member'; readonly member: Member }
  | { readonly kind: 'module'; readonly name: ModuleName; readonly interfaces: readonly ModuleName[] }
  /** A native by its name. Some have another name with more arguments: `round` with two is `round-prec`. */
  | { readonly kind: 'native'; readonly name: string }
  | { readonly kind: 'constant'; readonly value: bigint | Decimal | string | boolean | Unit }
  | { readonly kind: 'lambda'; readonly parameters: readonly Parameter5[]; readonly body: Term }
  | { readonly kind: 'let'; readonly variable: Parameter5; readonly value: Term; readonly body: Term }
  | { readonly kind: 'application'; readonly callee: Term; readonly arguments: readonly Term[] }
  | { readonly kind: 'sequence'; readonly first: Term; readonly second: Term }
  | { readonly kind: 'form'; readonly form: FormName; readonly terms: readonly Term[] }
  | { readonly kind: 'list'; readonly items: readonly Term[] }
  | { readonly kind: 'object'; readonly fields: readonly (readonly [string, Term])[] };

/** The word `@managed` or `@event` of a capability. */
export type Meta5<Manager> =
  | { readonly kind: 'event' }
  | { readonly kind: 'managed'; readonly manager: ManagerOf<Manager> | undefined };

export interface ManagerOf<Manager> {
  readonly parameter: string;
  /** The number of parameters before this one. */
  readonly index: number;
  readonly function: Manager;
}

interface Signature5 {
  /** The name of the definition with the type of its result. */
  readonly head: Parameter5;
  readonly parameters: readonly Parameter5[];
}

export type Definition5 =
  | (Signature5 & { readonly kind: 'defun'; readonly body: Term })
  | (Signature5 & { readonly kind: 'defcap'; readonly meta: Meta5<Member> | undefined; readonly body: Term })
  | (Signature5 & { readonly kind: 'defpact'; readonly steps: readonly Step5[] })
  | { readonly kind: 'defconst'; readonly head: Parameter5; readonly code: Term; readonly value: Value | undefined }
  | { readonly kind: 'defschema'; readonly name: string; readonly fields: Fields5 }
  | { readonly kind: 'deftable'; readonly name: string; readonly schema: Schema5 | undefined }
  | (Signature5 & { readonly kind: 'defun-signature' | 'defpact-signature' })
  | (Signature5 & { readonly kind: 'defcap-signature'; readonly meta: Meta5<string> | undefined });

export interface Step5 {
  readonly value: Term;
  readonly rollback: Term | undefined;
}
