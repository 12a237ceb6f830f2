/** The form parser: reads the text of contract code as forms, which are S-expressions. */

import type { Dialect } from '../dialect.ts';
import { ContractError, type Position } from '../errors.ts';
import type { Bracket, Form } from './forms.ts';
import { digitsEnd, isDigit, nameEnd, scanText, spaceEnd } from './lexer.ts';

/**
 * Maximum length of the text of contract code, in UTF-16 code units. The forms of a text of this length take about
 * 100 MB of memory. The longest contract file of the public chain has 50 kB.
 */
export const MAX_TEXT_LENGTH = 2 ** 20;
/**
 * Maximum depth of nested brackets. It bounds the stack, because the functions that walk over a syntax tree call
 * themselves at each level. Contracts of the public chain have fewer than 20 levels.
 */
export const MAX_DEPTH = 200;
/** Maximum number of digits of a number. The time to read a number grows faster than the number of its digits. */
export const MAX_DIGITS = 10_000;
/** Maximum number of digits after the decimal point. */
export const MAX_PLACES = 255;

/** Maximum number of remaining tokens that a message of dialect 5 shows. */
const TOKENS_SHOWN = 10;

/** The name in a symbol of dialect 5. In dialect 4, any name without dots can be in a symbol. */
const SYMBOL_5 = /[a-zA-Z][a-zA-Z0-9_-]*/y;

const CLOSING: Readonly<Record<Bracket, string>> = { '(': ')', '[': ']', '{': '}' };

/**
 * @param file the path of the text's file, for positions; undefined for a text that is not from a file
 * @returns all forms of the text, in order
 * @throws ContractError of kind `syntax`
 */
export function readForms(text: string, dialect: Dialect, file?: string): readonly Form[] {
  return [...formsIn(text, dialect, file)];
}

/** Like `readForms`, but reads each form only when it is requested. So the forms before a syntax error can be used. */
export function formsIn(text: string, dialect: Dialect, file?: string): Generator<Form> {
  return new Reader(text, dialect, file).forms();
}

/**
 * @param token the missing token: a punctuation mark, a word, or a kind of token such as `IDENT`
 * @returns dialect 5's message for a missing token. The message shows a punctuation mark in quotation marks
 */
export function expected5(token: string): string {
  return `Expected: [${/^\W+$/.test(token) ? `'${token}'` : token}]`;
}

class Reader {
  readonly #text: string;
  readonly #dialect: Dialect;
  readonly #file: string | undefined;
  /** Offset of the next character to read, in UTF-16 code units. */
  #at = 0;
  /**
   * The offset to which `#line` and `#column` belong. This offset is at most `#at`. The method `#position` sets it to
   * `#at`.
   */
  #counted = 0;
  #line = 1;
  #column = 0;

  constructor(text: string, dialect: Dialect, file: string | undefined) {
    this.#text = text;
    this.#dialect = dialect;
    this.#file = file;
  }

  *forms(): Generator<Form> {
    if (this.#text.length > MAX_TEXT_LENGTH) {
      throw new ContractError('syntax', `The text is longer than ${MAX_TEXT_LENGTH} characters`);
    }
    this.#skipSpace();
    while (this.#at < this.#text.length) yield this.#form(0);
  }

  /**
   * Reads a form, and the white space and comments after it.
   * @param depth number of brackets around the form
   * @throws ContractError of kind `syntax`
   */
  #form(depth: number): Form {
    const position = this.#position();
    const first = this.#text[this.#at];
    switch (first) {
      case '(':
      case '[':
      case '{': {
        const items = this.#items(first, depth, position);
        return { kind: 'list', position, code: this.#codeSince(position), bracket: first, items };
      }
      case '"': {
        const value = this.#quoted(position);
        return { kind: 'text', position, code: this.#codeSince(position), value, isSymbol: false };
      }
      case "'": {
        const value = this.#symbol(position);
        return { kind: 'text', position, code: this.#codeSince(position), value, isSymbol: true };
      }
      case ',': {
        this.#at++;
        return { kind: 'separator', position, code: this.#codeSince(position), separator: first };
      }
      case ':': {
        const separator = this.#text[this.#at + 1] === '=' ? ':=' : ':';
        this.#at += separator.length;
        return { kind: 'separator', position, code: this.#codeSince(position), separator };
      }
    }
    if (this.#isNumber()) return this.#number(position);
    if (nameEnd(this.#text, this.#at, this.#dialect) > this.#at) return this.#name(position);
    return this.#unexpected(position, depth);
  }

  #items(bracket: Bracket, depth: number, position: Position): Form[] {
    if (depth === MAX_DEPTH) {
      throw new ContractError('syntax', `More than ${MAX_DEPTH} brackets are inside each other`, position);
    }
    const closing = CLOSING[bracket];
    const items: Form[] = [];
    this.#at++;
    this.#skipSpace();
    while (this.#text[this.#at] !== closing) {
      const next = this.#text[this.#at];
      if (next === undefined || next === ')' || next === ']' || next === '}') {
        this.#fail(`error: expected: "${closing}"`, expected5(closing), this.#position());
      }
      items.push(this.#form(depth + 1));
    }
    this.#at++;
    return items;
  }

  #name(position: Position): Form {
    const first = this.#takeName();
    const text = this.#text;
    if (text.startsWith('::', this.#at) && nameEnd(this.#text, this.#at + 2, this.#dialect) > this.#at + 2) {
      this.#at += 2;
      const member = this.#takeName();
      return { kind: 'dynamic', position, code: this.#codeSince(position), reference: first, member };
    }
    if (first === 'true' || first === 'false') {
      return { kind: 'boolean', position, code: this.#codeSince(position), value: first === 'true' };
    }
    const parts = [first];
    while (text[this.#at] === '.' && nameEnd(this.#text, this.#at + 1, this.#dialect) > this.#at + 1) {
      this.#at++;
      parts.push(this.#takeName());
    }
    return { kind: 'name', position, code: this.#codeSince(position), parts };
  }

  #takeName(): string {
    const start = this.#at;
    this.#at = nameEnd(this.#text, start, this.#dialect);
    return this.#text.slice(start, this.#at);
  }

  #isNumber(): boolean {
    const unit = this.#text.charCodeAt(this.#at);
    return isDigit(unit) || (unit === 45 && isDigit(this.#text.charCodeAt(this.#at + 1)));
  }

  #number(position: Position): Form {
    const text = this.#text;
    const start = this.#at;
    const digits = text[start] === '-' ? start + 1 : start;
    const whole = digitsEnd(text, digits);
    const isDecimal = text[whole] === '.' && isDigit(text.charCodeAt(whole + 1));
    const end = isDecimal ? digitsEnd(text, whole + 1) : whole;
    if (end - digits - (isDecimal ? 1 : 0) > MAX_DIGITS) {
      throw new ContractError('syntax', `A number has more than ${MAX_DIGITS} digits`, position);
    }
    const integer = text.slice(start, whole);
    if (!isDecimal) {
      this.#at = end;
      return { kind: 'integer', position, code: this.#codeSince(position), value: BigInt(integer) };
    }
    const fraction = text.slice(whole + 1, end);
    const places = fraction.length;
    if (places > MAX_PLACES) {
      this.#fail(
        `error: decimal precision overflow (255 max): "${text.slice(digits, whole)}"."${fraction}"`,
        `Precision overflow (>=255 decimal places):  ${places} decimals`,
        position,
      );
    }
    this.#at = end;
    return {
      kind: 'decimal',
      position,
      code: this.#codeSince(position),
      mantissa: BigInt(integer + fraction),
      places,
    };
  }

  #symbol(position: Position): string {
    const start = this.#at + 1;
    if (this.#dialect === 4) {
      this.#at = nameEnd(this.#text, start, this.#dialect);
      if (this.#at === start) this.#fail('error: expected: atom', '', position);
      return this.#text.slice(start, this.#at);
    }
    SYMBOL_5.lastIndex = start;
    const [name] = SYMBOL_5.exec(this.#text) ?? [];
    if (name === undefined) return this.#unexpected(position, 0);
    this.#at = start + name.length;
    return name;
  }

  #quoted(position: Position): string {
    const scanned = scanText(this.#text, this.#at, this.#dialect);
    if ('cause5' in scanned) {
      const message5 = `Lexical Error: String literal parsing error:  ${scanned.cause5}`;
      return this.#fail(`error: expected: ${scanned.expected4}`, message5, position);
    }
    this.#at = scanned.end;
    return scanned.content;
  }

  #skipSpace(): void {
    const text = this.#text;
    for (;;) {
      this.#at = spaceEnd(text, this.#at, this.#dialect);
      if (text[this.#at] !== ';') return;
      const newline = text.indexOf('\n', this.#at);
      this.#at = newline < 0 ? text.length : newline + 1;
    }
  }

  /**
   * Skips white space and comments after a form.
   * @param position of the form
   * @returns the source of the form, with what was skipped
   */
  #codeSince({ offset }: Position): string {
    this.#skipSpace();
    return this.#text.slice(offset, this.#at);
  }

  /** @returns the position of the next character, at `#at`. Between two calls, `#at` must not become smaller */
  #position(): Position {
    const text = this.#text;
    while (this.#counted < this.#at) {
      const unit = text.charCodeAt(this.#counted++);
      if (unit === 10) {
        this.#line++;
        this.#column = 0;
      } else if (unit < 0xdc00 || unit > 0xdfff) {
        // The column is a number of characters. The second half of a surrogate pair is not counted.
        this.#column++;
      }
    }
    const place = { line: this.#line, column: this.#column, offset: this.#at };
    return this.#file === undefined ? place : { file: this.#file, ...place };
  }

  #fail(message4: string, message5: string, position: Position): never {
    throw new ContractError('syntax', this.#dialect === 4 ? message4 : message5, position);
  }

  /** Fails at a character that cannot begin a form. @param depth number of brackets around it */
  #unexpected(position: Position, depth: number): never {
    const expected = depth === 0 ? 'end of input' : 'expression';
    throw new ContractError(
      'syntax',
      this.#dialect === 4 ? `error: expected: ${expected}` : this.#unexpected5(),
      position,
    );
  }

  #unexpected5(): string {
    const character = String.fromCodePoint(this.#text.codePointAt(this.#at) ?? 0);
    if (character === ')') {
      this.#at++;
      return `Too many closing parens, remaining tokens: ${this.#remainingTokens()}`;
    }
    if (character === ']' || character === '}' || character === '.') {
      return `Unexpected input after expr, remaining tokens: ${this.#remainingTokens()}`;
    }
    const before = this.#text[this.#at - 1] ?? '';
    return `Lexical Error: Encountered unexpected character "${character}", Last seen "${before}"`;
  }

  /** @returns a list of the next tokens for messages of dialect 5: `[(, ident<f>, ...]` */
  #remainingTokens(): string {
    const tokens: string[] = [];
    this.#skipSpace();
    while (this.#at < this.#text.length && tokens.length <= TOKENS_SHOWN) tokens.push(...this.#tokens());
    const shown = tokens.length > TOKENS_SHOWN ? [...tokens.slice(0, TOKENS_SHOWN), '...'] : tokens;
    return `[${shown.join(', ')}]`;
  }

  /** Reads a bracket, a dot, or a form without brackets. @returns the tokens of what was read, as messages show them */
  #tokens(): readonly string[] {
    const next = this.#text[this.#at] ?? '';
    if ('()[]{}.'.includes(next)) {
      this.#at++;
      this.#skipSpace();
      return [next];
    }
    const form = this.#form(0);
    switch (form.kind) {
      case 'integer':
      case 'decimal':
        return withDots(tokenOf(form).split('.'), 'number');
      case 'text':
        return [form.isSymbol ? `'${form.value}` : `"${form.value}"`];
      case 'name':
        return withDots(form.parts, 'ident');
      case 'dynamic':
        return [`ident<${form.reference}>`, '::', `ident<${form.member}>`];
      default:
        return [tokenOf(form)];
    }
  }
}

/** @param form consists of one token @returns the source of the token, without the white space and comments after it */
function tokenOf({ code }: Form): string {
  return code.split(/[\s;]/, 1)[0] ?? '';
}

function withDots(parts: readonly string[], kind: string): readonly string[] {
  return parts.flatMap((part, at) => (at === 0 ? [`${kind}<${part}>`] : ['.', `${kind}<${part}>`]));
}
