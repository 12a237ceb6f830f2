/** The lexer: finds where tokens end, and decodes quoted texts. Offsets in a text are in UTF-16 code units. */

import type { Dialect } from '../dialect.ts';

/**
 * For each ASCII character: 1 if names can begin with this character, 2 if names can contain it only after the first
 * character, 0 if names cannot contain it.
 */
const IN_NAME = new Uint8Array(128);
for (const character of '%#+-_&$@<>=^?*!|/~abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ') {
  IN_NAME[character.charCodeAt(0)] = 1;
}
IN_NAME.fill(2, 48, 58);
const LETTER = /^\p{L}$/u;
const SPACE_SEPARATOR = /^\p{Zs}$/u;

const NEWLINE = 10;
const RETURN = 13;
const QUOTE = 34;
const BACKSLASH = 92;
/** In dialect 4, a quoted text cannot contain characters with codes from 0 to this code, except as escapes. */
const LAST_CONTROL = 26;
const REPLACEMENT = '\ufffd';

/** The characters for which escapes of one character stand, such as a newline for `\n`. */
const ESCAPES: Readonly<Record<Dialect, ReadonlyMap<string, string>>> = {
  4: new Map(
    Object.entries({ a: '\x07', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v', '\\': '\\', '"': '"', "'": "'" }),
  ),
  5: new Map(Object.entries({ n: '\n', t: '\t', '\\': '\\', '"': '"', "'": "'" })),
};
const NUMERIC_ESCAPE = /(\d+)|o([0-7]+)|x([\da-fA-F]+)/y;

export function isDigit(unit: number): boolean {
  return unit >= 48 && unit <= 57;
}

/** @returns the offset after the decimal digits that begin at `start`; `start` if there is no digit */
export function digitsEnd(text: string, start: number): number {
  let at = start;
  while (isDigit(text.charCodeAt(at))) at++;
  return at;
}

/** @returns the offset after the name without dots that begins at `start`; `start` if no name begins there */
export function nameEnd(text: string, start: number, dialect: Dialect): number {
  let at = start;
  for (;;) {
    const unit = text.charCodeAt(at);
    if (unit < 128) {
      const rank = IN_NAME[unit];
      if (rank === 0 || (rank === 2 && at === start)) return at;
      at++;
    } else {
      const character = String.fromCodePoint(text.codePointAt(at) ?? 0);
      if (dialect === 5 || !LETTER.test(character)) return at;
      at += character.length;
    }
  }
}

/** @returns the offset after the white space that begins at `start`; `start` if there is no white space */
export function spaceEnd(text: string, start: number, dialect: Dialect): number {
  let at = start;
  for (;;) {
    const unit = text.charCodeAt(at);
    const isAscii = unit === 32 || (unit >= 9 && unit <= 13);
    if (!isAscii && !(unit > 127 && dialect === 4 && SPACE_SEPARATOR.test(String.fromCharCode(unit)))) return at;
    at++;
  }
}

/** The fault of a quoted text. */
interface TextFault {
  /** What was expected at the fault, for the message of dialect 4. */
  readonly expected4: string;
  /** The cause, for the message of dialect 5. */
  readonly cause5: string;
}

/** A quoted text, or one escape in it. */
interface ScannedText {
  /** The characters for which the source stands. */
  readonly content: string;
  /** The offset after the closing quotation mark, or after the escape. */
  readonly end: number;
}

/** Reads a quoted text. @param start the offset of the opening quotation mark */
export function scanText(text: string, start: number, dialect: Dialect): ScannedText | TextFault {
  let content = '';
  let at = start + 1;
  let from = at;
  for (;;) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) return { content: content + text.slice(from, at), end: at + 1 };
    if (unit === BACKSLASH) {
      const escaped = scanEscape(text, at + 1, dialect);
      if ('cause5' in escaped) return escaped;
      content += text.slice(from, at) + escaped.content;
      at = escaped.end;
      from = at;
    } else {
      const cause5 = faultAt(unit, dialect);
      if (cause5 !== undefined) return { expected4: 'end of string', cause5 };
      at++;
    }
  }
}

/**
 * @param unit a code unit of a quoted text; NaN at the end of the source
 * @returns the cause of a fault in words of dialect 5; undefined if a quoted text can contain this code unit
 */
function faultAt(unit: number, dialect: Dialect): string | undefined {
  if (dialect === 4 ? unit > LAST_CONTROL : unit !== NEWLINE && unit !== RETURN && !Number.isNaN(unit)) {
    return undefined;
  }
  if (Number.isNaN(unit)) return 'did not close string literal';
  return unit === RETURN ? 'carriage return in string literal' : 'newline in string literal';
}

/** Reads an escape. @param start the offset after the backslash */
function scanEscape(text: string, start: number, dialect: Dialect): ScannedText | TextFault {
  const first = text[start];
  if (first === undefined) return { expected4: 'escape code', cause5: 'did not close string literal' };
  const gap = spaceEnd(text, start, dialect);
  if (gap > start) {
    // White space between two backslashes is no part of the text. So a text can continue on the next line.
    if (text.charCodeAt(gap) === BACKSLASH) return { content: '', end: gap + 1 };
    const isOpen = gap === text.length;
    return {
      expected4: 'end of string gap',
      cause5: isOpen ? 'did not close string literal' : 'Invalid multiline string',
    };
  }
  const character = ESCAPES[dialect].get(first);
  if (character !== undefined) return { content: character, end: start + 1 };
  const numeric = dialect === 4 ? scanNumericEscape(text, start) : undefined;
  if (numeric !== undefined) return numeric;
  const cause5 = first === 'r' ? 'carriage return is not supported in strings literals' : 'Invalid escape sequence';
  return { expected4: 'escape code', cause5 };
}

/**
 * Reads an escape of dialect 4 that is a code point in decimal (`123`), octal (`o173`) or hex digits (`x7b`). The
 * escape `&` stands for no character. It separates such an escape from a digit of the text.
 * @returns undefined for any other escape, and for a code point above U+10FFFF
 */
function scanNumericEscape(text: string, start: number): ScannedText | undefined {
  if (text[start] === '&') return { content: '', end: start + 1 };
  NUMERIC_ESCAPE.lastIndex = start;
  const [all, decimal, octal, hex] = NUMERIC_ESCAPE.exec(text) ?? [];
  if (all === undefined) return undefined;
  const code = Number.parseInt(decimal ?? octal ?? hex ?? '', decimal ? 10 : octal ? 8 : 16);
  if (code > 0x10ffff) return undefined;
  // The code of half of a surrogate pair is not a character, so it becomes U+FFFD.
  const isHalf = code >= 0xd800 && code <= 0xdfff;
  return { content: isHalf ? REPLACEMENT : String.fromCodePoint(code), end: start + all.length };
}
