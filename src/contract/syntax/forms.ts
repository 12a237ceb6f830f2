/** Forms: S-expressions with their places in the text, before their meaning is known. */

import type { Position } from '../errors.ts';

interface InText {
  readonly position: Position;
  /** The form's source, up to the next token or the end of the text. A module's hash is the hash of this source. */
  readonly code: string;
}

interface IntegerForm extends InText {
  readonly kind: 'integer';
  readonly value: bigint;
}

/** mantissa · 10^-places, with as many places as were written, at most 255. */
interface DecimalForm extends InText {
  readonly kind: 'decimal';
  readonly mantissa: bigint;
  readonly places: number;
}

interface TextForm extends InText {
  readonly kind: 'text';
  readonly value: string;
  /** Whether the text was written as a symbol: `'name`. */
  readonly isSymbol: boolean;
}

interface BooleanForm extends InText {
  readonly kind: 'boolean';
  readonly value: boolean;
}

/** `f`, `m.f`, `ns.m.f`. The form parser also reads names of more parts, which are refused later. */
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
