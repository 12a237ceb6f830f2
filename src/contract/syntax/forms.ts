/** Forms: the S-expressions of a text, with their positions. The parser makes the syntax tree from them. */

import type { Position } from '../errors.ts';

interface InText {
  readonly position: Position;
  /**
   * The source from the form's first character up to the next token or the end of the text. White space and comments
   * after the form are included. A module's hash is the hash of this source.
   */
  readonly code: string;
}

interface IntegerForm extends InText {
  readonly kind: 'integer';
  readonly value: bigint;
}

/** The number mantissa · 10^−places. `places` is the number of digits after the decimal point in the source. */
interface DecimalForm extends InText {
  readonly kind: 'decimal';
  readonly mantissa: bigint;
  /** 1 … 255. */
  readonly places: number;
}

interface TextForm extends InText {
  readonly kind: 'text';
  /** The text without quotation marks, and with escapes replaced by their characters. */
  readonly value: string;
  /** Whether the source is a symbol (`'name`) instead of a quoted text. */
  readonly isSymbol: boolean;
}

interface BooleanForm extends InText {
  readonly kind: 'boolean';
  readonly value: boolean;
}

/** A name such as `f`, `m.f` or `ns.m.f`. There can be more than three parts; `nameOf` refuses such names. */
export interface NameForm extends InText {
  readonly kind: 'name';
  readonly parts: readonly string[];
}

/** A name in the form `reference::member`. */
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
