/** The text of contract code as S-expressions with positions, before any form is known. */

import { ContractError, type Dialect, type Position } from './errors.ts';

interface InText {
  readonly position: Position;
  /** The source from its first character up to the next token or the end of the text: a module's hash covers this. */
  readonly code: string;
}

export interface IntegerForm extends InText {
  readonly kind: 'integer';
  readonly value: bigint;
}

/** mantissa · 10^-places. It has as many places as were written, at most 255. */
export interface DecimalForm extends InText {
  readonly kind: 'decimal';
  readonly mantissa: bigint;
  readonly places: number;
}

export interface TextForm extends InText {
  readonly kind: 'text';
  readonly value: string;
  /** Whether it was written as `'name`. */
  readonly isSymbol: boolean;
}

export interface BooleanForm extends InText {
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

/**
 * Maximum length of a text in UTF-16 code units. The longest public file has 50 kB, and a text of this length is
 * read in less than a second.
 */
export const MAX_TEXT_LENGTH = 2 ** 21;
/**
 * Maximum number of brackets inside each other. Public contracts stay below 40, and everything that walks over a tree
 * calls itself for each level, so this also bounds the stack.
 */
export const MAX_DEPTH = 200;
/** Maximum number of digits of a number, because the time to read one grows faster than its length. */
export const MAX_DIGITS = 10_000;
/** Maximum number of digits after the point. */
export const MAX_PLACES = 255;

/** Number of tokens that a message of dialect 5 shows of what was not expected. */
const TOKENS_SHOWN = 10;

const CLOSING: Readonly<Record<Bracket, string>> = { '(': ')', '[': ']', '{': '}' };

const NAME_SYMBOLS = '%#+-_&$@<>=^?*!|/~';
const LETTER = /^\p{L}$/u;
const SPACE_SEPARATOR = /^\p{Zs}$/u;

/** Escapes of one character. Dialect 5 has only those of the second table. */
const ESCAPES_4: ReadonlyMap<string, string> = new Map(
  Object.entries({ a: '\x07', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v', '\\': '\\', '"': '"', "'": "'" }),
);
const ESCAPES_5: ReadonlyMap<string, string> = new Map(
  Object.entries({ n: '\n', t: '\t', '\\': '\\', '"': '"', "'": "'" }),
);
const NUMERIC_ESCAPE = /(\d+)|o([0-7]+)|x([\da-fA-F]+)/y;
/** Characters up to this one may not stand in a text of dialect 4. */
const LAST_CONTROL = 26;
const REPLACEMENT = '\ufffd';

/**
 * @returns all forms of a text, in order
 * @throws ContractError of kind `syntax`
 */
export function readForms(text: string, dialect: Dialect = 4): readonly Form[] {
  return new Reader(text, dialect).readAll();
}

class Reader {
  readonly #text: string;
  readonly #dialect: Dialect;
  /** Offset of the next character to read. */
  #at = 0;
  /** The place of offset `#counted`, which follows `#at`, so that lines are counted once. */
  #counted = 0;
  #line = 1;
  #column = 0;

  constructor(text: string, dialect: Dialect) {
    this.#text = text;
    this.#dialect = dialect;
  }

  readAll(): Form[] {
    if (this.#text.length > MAX_TEXT_LENGTH) {
      throw new ContractError('syntax', `The text is longer than ${MAX_TEXT_LENGTH} characters`);
    }
    const forms: Form[] = [];
    this.#skipSpace();
    while (this.#at < this.#text.length) forms.push(this.#form(0));
    return forms;
  }

  /** Reads one form and the space behind it. */
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
        const value = this.#string(position);
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
    if (this.#nameEnd(this.#at) > this.#at) return this.#name(position);
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
        this.#fail(`error: expected: "${closing}"`, `Expected: [${closing}]`, this.#position());
      }
      items.push(this.#form(depth + 1));
    }
    this.#at++;
    return items;
  }

  /** @returns the offset after the name that begins at an offset; this offset if none begins there */
  #nameEnd(start: number): number {
    let at = start;
    for (;;) {
      const width = this.#nameCharacterWidth(at, at > start);
      if (width === 0) return at;
      at += width;
    }
  }

  /** @returns the number of code units of the character at an offset if it may be in a name, otherwise 0 */
  #nameCharacterWidth(at: number, digits: boolean): number {
    const unit = this.#text.charCodeAt(at);
    if (unit < 128) {
      const isLetter = (unit >= 97 && unit <= 122) || (unit >= 65 && unit <= 90);
      return isLetter || (digits && isDigit(unit)) || NAME_SYMBOLS.includes(String.fromCharCode(unit)) ? 1 : 0;
    }
    if (this.#dialect === 5 || Number.isNaN(unit)) return 0;
    const character = String.fromCodePoint(this.#text.codePointAt(at) ?? 0);
    return LETTER.test(character) ? character.length : 0;
  }

  #name(position: Position): Form {
    const first = this.#takeName();
    const text = this.#text;
    if (text.startsWith('::', this.#at) && this.#nameEnd(this.#at + 2) > this.#at + 2) {
      this.#at += 2;
      const member = this.#takeName();
      return { kind: 'dynamic', position, code: this.#codeSince(position), reference: first, member };
    }
    if (first === 'true' || first === 'false') {
      return { kind: 'boolean', position, code: this.#codeSince(position), value: first === 'true' };
    }
    const parts = [first];
    while (text[this.#at] === '.' && this.#nameEnd(this.#at + 1) > this.#at + 1) {
      this.#at++;
      parts.push(this.#takeName());
    }
    return { kind: 'name', position, code: this.#codeSince(position), parts };
  }

  #takeName(): string {
    const start = this.#at;
    this.#at = this.#nameEnd(start);
    return this.#text.slice(start, this.#at);
  }

  #isNumber(): boolean {
    const unit = this.#text.charCodeAt(this.#at);
    return isDigit(unit) || (unit === 45 && isDigit(this.#text.charCodeAt(this.#at + 1)));
  }

  #number(position: Position): Form {
    const text = this.#text;
    const start = this.#at;
    const whole = this.#digitsEnd(text[start] === '-' ? start + 1 : start);
    const isDecimal = text[whole] === '.' && isDigit(text.charCodeAt(whole + 1));
    const end = isDecimal ? this.#digitsEnd(whole + 1) : whole;
    if (end - start > MAX_DIGITS) {
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
      const digits = `"${integer.replace('-', '')}"."${fraction}"`;
      this.#fail(
        `error: decimal precision overflow (255 max): ${digits}`,
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

  #digitsEnd(start: number): number {
    let at = start;
    while (isDigit(this.#text.charCodeAt(at))) at++;
    return at;
  }

  #symbol(position: Position): string {
    const start = this.#at + 1;
    if (this.#dialect === 4) {
      this.#at = this.#nameEnd(start);
      if (this.#at === start) this.#fail('error: expected: atom', '', position);
      return this.#text.slice(start, this.#at);
    }
    const symbol = /[a-zA-Z][a-zA-Z0-9_-]*/y;
    symbol.lastIndex = start;
    const [name] = symbol.exec(this.#text) ?? [];
    if (name === undefined) return this.#unexpected(position, 0);
    this.#at = start + name.length;
    return name;
  }

  /** @returns the content of the text whose quotation mark is next */
  #string(position: Position): string {
    const text = this.#text;
    let content = '';
    let at = this.#at + 1;
    let start = at;
    for (;;) {
      const unit = text.charCodeAt(at);
      if (unit === 34) break;
      if (unit === 92) {
        content += text.slice(start, at);
        this.#at = at + 1;
        content += this.#escape(position);
        at = this.#at;
        start = at;
      } else {
        if (!this.#isInText(unit)) this.#failInText(unit, position);
        at++;
      }
    }
    this.#at = at + 1;
    return content + text.slice(start, at);
  }

  #isInText(unit: number): boolean {
    return this.#dialect === 4 ? unit > LAST_CONTROL : !Number.isNaN(unit) && unit !== 10 && unit !== 13;
  }

  #failInText(unit: number, position: Position): never {
    const newline = unit === 10 ? 'newline in string literal' : 'carriage return in string literal';
    this.#failText(Number.isNaN(unit) ? 'did not close string literal' : newline, 'end of string', position);
  }

  /** Reads what follows a backslash. */
  #escape(position: Position): string {
    const text = this.#text;
    const start = this.#at;
    const first = text[start];
    if (first === undefined) return this.#failText('did not close string literal', 'escape code', position);
    const gap = this.#spaceEnd(start);
    if (gap > start) {
      if (text[gap] !== '\\') {
        const cause = gap === text.length ? 'did not close string literal' : 'Invalid multiline string';
        return this.#failText(cause, 'end of string gap', position);
      }
      this.#at = gap + 1;
      return '';
    }
    this.#at = start + 1;
    const character = (this.#dialect === 4 ? ESCAPES_4 : ESCAPES_5).get(first);
    if (character !== undefined) return character;
    if (this.#dialect === 4) {
      if (first === '&') return '';
      NUMERIC_ESCAPE.lastIndex = start;
      const [all, decimal, octal, hex] = NUMERIC_ESCAPE.exec(text) ?? [];
      if (all !== undefined) {
        const code = Number.parseInt(decimal ?? octal ?? hex ?? '', decimal ? 10 : octal ? 8 : 16);
        if (code <= 0x10ffff) {
          this.#at = start + all.length;
          // A half of a surrogate pair is not a character.
          return code >= 0xd800 && code <= 0xdfff ? REPLACEMENT : String.fromCodePoint(code);
        }
      }
    }
    const cause = first === 'r' ? 'carriage return is not supported in strings literals' : 'Invalid escape sequence';
    return this.#failText(cause, 'escape code', position);
  }

  #skipSpace(): void {
    const text = this.#text;
    for (;;) {
      this.#at = this.#spaceEnd(this.#at);
      if (text[this.#at] !== ';') return;
      const newline = text.indexOf('\n', this.#at);
      this.#at = newline < 0 ? text.length : newline + 1;
    }
  }

  /** @returns the offset after the white space at an offset */
  #spaceEnd(start: number): number {
    let at = start;
    for (;;) {
      const unit = this.#text.charCodeAt(at);
      const isSpace = unit === 32 || (unit >= 9 && unit <= 13);
      if (!isSpace && !(unit > 127 && this.#dialect === 4 && SPACE_SEPARATOR.test(String.fromCharCode(unit)))) {
        return at;
      }
      at++;
    }
  }

  /** Skips the space behind a form. @returns the form's code */
  #codeSince({ offset }: Position): string {
    this.#skipSpace();
    return this.#text.slice(offset, this.#at);
  }

  /** @returns the position of the next character. Offsets must not decrease from call to call */
  #position(): Position {
    const text = this.#text;
    while (this.#counted < this.#at) {
      const unit = text.charCodeAt(this.#counted++);
      if (unit === 10) {
        this.#line++;
        this.#column = 0;
      } else if (unit < 0xdc00 || unit > 0xdfff) {
        // The second half of a surrogate pair is no character of its own.
        this.#column++;
      }
    }
    return { line: this.#line, column: this.#column, offset: this.#at };
  }

  #fail(message4: string, message5: string, position: Position): never {
    throw new ContractError('syntax', this.#dialect === 4 ? message4 : message5, position);
  }

  #failText(cause5: string, expected4: string, position: Position): never {
    const message5 = `Lexical Error: String literal parsing error:  ${cause5}`;
    return this.#fail(`error: expected: ${expected4}`, message5, position);
  }

  /** Fails at a character that begins no form. */
  #unexpected(position: Position, depth: number): never {
    const character = String.fromCodePoint(this.#text.codePointAt(this.#at) ?? 0);
    const message4 = depth === 0 ? 'error: expected: end of input' : 'error: expected: expression';
    if (this.#dialect === 5 && character === ')') {
      this.#at++;
      this.#fail('', `Too many closing parens, remaining tokens: ${this.#remainingTokens()}`, position);
    }
    const before = this.#text.slice(0, this.#at).at(-1) ?? '';
    const unexpected = `Lexical Error: Encountered unexpected character "${character}", Last seen "${before}"`;
    const isToken = character === ']' || character === '}' || character === '.';
    this.#fail(
      message4,
      isToken ? `Unexpected input after expr, remaining tokens: ${this.#remainingTokens()}` : unexpected,
      position,
    );
  }

  /** @returns the next tokens as dialect 5 lists them */
  #remainingTokens(): string {
    const tokens: string[] = [];
    this.#skipSpace();
    while (this.#at < this.#text.length && tokens.length <= TOKENS_SHOWN) tokens.push(this.#tokenText());
    const shown = tokens.length > TOKENS_SHOWN ? [...tokens.slice(0, TOKENS_SHOWN), '...'] : tokens;
    return `[${shown.join(', ')}]`;
  }

  #tokenText(): string {
    const next = this.#text[this.#at] ?? '';
    if ('()[]{}.'.includes(next)) {
      this.#at++;
      this.#skipSpace();
      return next;
    }
    // A list cannot begin here, so the form is one token, or the parts of a name.
    const form = this.#form(0);
    switch (form.kind) {
      case 'integer':
      case 'decimal':
        return `number<${withoutSpace(form.code)}>`;
      case 'text':
        return form.isSymbol ? `'${form.value}` : `"${form.value}"`;
      case 'name':
        return form.parts.map((part) => `ident<${part}>`).join(', ., ');
      case 'dynamic':
        return `ident<${form.reference}>, ::, ident<${form.member}>`;
      case 'separator':
        return form.separator;
      default:
        return withoutSpace(form.code);
    }
  }
}

function isDigit(unit: number): boolean {
  return unit >= 48 && unit <= 57;
}

/** @returns the code of a form of one token, without the space and comments behind it */
function withoutSpace(code: string): string {
  return code.split(/[\s;]/, 1)[0] ?? '';
}
