/** S-expressions with their places in the text, before anything is known of what they mean. */

import type { Position } from '../errors.ts';

interface InText {
  readonly position: Position;
  /** The source from its first character up to the next token or the end of the text: a module's hash covers this. */
  readonly code: string;
}

interface IntegerForm extends InText {
  readonly kind: 'integer';
  readonly value: bigint;
}

/** mantissa · 10^-places. It has as many places as were written, at most 255. */
interface DecimalForm extends InText {
  readonly kind: 'decimal';
  readonly mantissa: bigint;
  readonly places: number;
}

interface TextForm extends InText {
  readonly kind: 'text';
  readonly value: string;
  /** Whether it was written as `'name`. */
  readonly isSymbol: boolean;
}

interface BooleanForm extends InText {
  readonly kind: 'boolean';
  readonly value: boolean;
}

/** `f`, `m.f`, `ns.m.f`, perhaps with more parts, which no form allows. */
export interface NameForm extends InText {
  readonly kind: 'name';
  readonly parts: readonly string[];
}

/** `reference::member`. */
export interface DynamicForm extends InText {
  readonly kind: 'dynamic';
  readonly reference: string;
  readonly member: string;
}

export type Bracket = '(' | '[' | '{';

export interface ListForm extends InText {
  readonly kind: 'list';
  readonly bracket: Bracket;
  readonly items: readonly Form[];
}

export interface SeparatorForm extends InText {
  readonly kind: 'separator';
  readonly separator: ':' | ':=' | ',';
}

export type Form =
  | IntegerForm
  | DecimalForm
  | TextForm
  | BooleanForm
  | NameForm
  | DynamicForm
  | ListForm
  | SeparatorForm;
