/** Takes the items of a list form from left to right, and fails if an item is missing or is not the expected one. */

import type { Dialect } from '../dialect.ts';
import { ContractError, type Position } from '../errors.ts';
import { expected5 } from './form-parser.ts';
import type { Bracket, DynamicForm, Form, ListForm, NameForm, SeparatorForm } from './forms.ts';

/** Words that cannot be names in either dialect. */
const RESERVED = new Set([
  ...['bless', 'defcap', 'defconst', 'defpact', 'defschema', 'deftable', 'defun', 'false', 'implements', 'interface'],
  ...['lambda', 'let', 'let*', 'module', 'step', 'step-with-rollback', 'true', 'use'],
]);
/** Further words that cannot be names in dialect 4. */
const RESERVED_4 = new Set(['cond', 'with-capability']);
/** Further words that cannot be names in dialect 5. */
const RESERVED_5 = new Set(['@doc', '@event', '@managed', '@model']);

export function isReserved(word: string, dialect: Dialect): boolean {
  return RESERVED.has(word) || (dialect === 4 ? RESERVED_4 : RESERVED_5).has(word);
}

/** @returns the name if the form is a name without dots; otherwise undefined */
export function wordOf(form: Form | undefined): string | undefined {
  return form?.kind === 'name' && form.parts.length === 1 ? form.parts[0] : undefined;
}

/** Something with a position in the text, at which a failure can be reported. */
export interface Placed {
  readonly position: Position;
}

/** The items of a list form. Each method named `take…` takes the next item. */
export class Items {
  readonly list: ListForm;
  readonly dialect: Dialect;
  /** Index of the next item. */
  #at: number;

  /** @param start index of the first item to take */
  constructor(list: ListForm, dialect: Dialect, start = 0) {
    this.list = list;
    this.dialect = dialect;
    this.#at = start;
  }

  /** Number of items that were not taken yet. */
  get left(): number {
    return this.list.items.length - this.#at;
  }

  /** @returns the next item, without taking it; undefined at the end of the list */
  peek(): Form | undefined {
    return this.list.items[this.#at];
  }

  /** Whether the next item can be taken as a name without dots. */
  get hasName(): boolean {
    const word = wordOf(this.peek());
    return word !== undefined && !isReserved(word, this.dialect);
  }

  /** Whether the next item is a list in these brackets. */
  hasList(bracket: Bracket): boolean {
    const next = this.peek();
    return next?.kind === 'list' && next.bracket === bracket;
  }

  peekTwo(): readonly [Form | undefined, Form | undefined] {
    return [this.list.items[this.#at], this.list.items[this.#at + 1]];
  }

  /**
   * Takes the next item, of any kind.
   * @param token the expected token, for the message of dialect 5
   * @throws ContractError at the end of the list
   */
  take(token: string): Form {
    const form = this.list.items[this.#at];
    if (form === undefined) return this.#failAtEnd(token);
    this.#at++;
    return form;
  }

  /** Takes the next item if it is this separator. @returns whether the item was taken */
  takeSeparator(separator: SeparatorForm['separator']): boolean {
    const next = this.peek();
    const isThere = next?.kind === 'separator' && next.separator === separator;
    if (isThere) this.#at++;
    return isThere;
  }

  /** Takes this separator. @throws ContractError if the next item is anything else */
  expectSeparator(separator: SeparatorForm['separator']): void {
    if (this.takeSeparator(separator)) return;
    this.refuse(this.take(separator), separator, separator);
  }

  /** Takes a list. @returns its items @throws ContractError if the next item is not a list in these brackets */
  takeList(bracket: Bracket): Items {
    const form = this.take(bracket);
    if (form.kind === 'list' && form.bracket === bracket) return new Items(form, this.dialect);
    return this.refuse(form, { '(': '(list)', '[': '[list]', '{': '{list}' }[bracket], bracket);
  }

  /** Takes the next item if it is this name without dots. @returns whether the item was taken */
  takeWord(word: string): boolean {
    const isThere = wordOf(this.peek()) === word;
    if (isThere) this.#at++;
    return isThere;
  }

  /** Takes a quoted text or a symbol. @throws ContractError if the next item is anything else */
  takeText(): string {
    const form = this.take('STR');
    return form.kind === 'text' ? form.value : this.refuse(form, 'string', 'STR');
  }

  /** Takes a name without dots. @throws ContractError if the next item is a reserved word, or no name without dots */
  takeName(): { readonly name: string; readonly position: Position } {
    const form = this.take('IDENT');
    if (form.kind !== 'name' && form.kind !== 'dynamic') return this.refuse(form, 'atom', 'IDENT');
    const name = wordOf(form);
    if (name === undefined) return this.refuse(form, 'unqualified atom', 'IDENT');
    checkReserved(form, this.dialect);
    return { name, position: form.position };
  }

  /** @throws ContractError if not all items were taken */
  end(): void {
    const next = this.peek();
    if (next !== undefined) this.refuse(next, 'end of expression', { '(': ')', '[': ']', '{': '}' }[this.list.bracket]);
  }

  /**
   * Ends a list whose further items dialect 4 drops without a word, as the language's own reader does there: contracts
   * with such items run on networks.
   * @throws ContractError in dialect 5 if not all items were taken
   */
  endUnlessLenient(): void {
    if (this.dialect === 5) this.end();
  }

  /** Calls the function `refuse` with the dialect. */
  refuse(at: Placed, expected4: string, token: string): never {
    return refuse(at, this.dialect, expected4, token);
  }

  /** @throws ContractError with `message4` in dialect 4, or with `message5` in dialect 5 */
  fail(at: Placed, message4: string, message5: string): never {
    throw new ContractError('syntax', this.dialect === 4 ? message4 : message5, at.position);
  }

  #failAtEnd(token: string): never {
    return this.fail(this.list, 'Unexpected end of input', expected5(token));
  }
}

/**
 * Fails at a form that is not the expected one.
 * @param expected4 what was expected, for the message of dialect 4
 * @param token the expected token, for the message of dialect 5
 * @throws ContractError
 */
export function refuse(at: Placed, dialect: Dialect, expected4: string, token: string): never {
  throw new ContractError('syntax', dialect === 4 ? `Expected: ${expected4}` : expected5(token), at.position);
}

/** @throws ContractError if a part of the name is a reserved word */
export function checkReserved(form: NameForm | DynamicForm, dialect: Dialect): void {
  const parts = form.kind === 'name' ? form.parts : [form.reference, form.member];
  if (!parts.some((part) => isReserved(part, dialect))) return;
  const message = dialect === 4 ? 'Unexpected: reserved word' : 'Expected: [IDENT]';
  throw new ContractError('syntax', message, form.position);
}
