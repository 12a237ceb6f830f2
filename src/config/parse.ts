/**
 * Parses the text of a configuration file. A text with faults is parsed around them, so that all of them are told at
 * once.
 */

import { getLocation, type ParseError, parse as parseTolerantly, printParseErrorCode } from 'jsonc-parser';
import { parse, TomlError } from 'smol-toml';
import { oneLine } from '../text/plain-text.ts';
import { jsonPositions, type Position, type Positions, positionAt, tomlPositions } from './positions.ts';
import type { Path } from './raw-settings.ts';

/** Levels of tables and lists within each other: a configuration has three. */
const MAX_DEPTH = 32;

/** A place at which the text is not in its format. */
export interface SyntaxFault extends Position {
  /** What is wrong, without anything that stands in the file, because that may be secret. */
  readonly what: string;
}

/** More faults than anybody mends at once: what follows them is not looked at. */
const MOST_FAULTS = 50;

export interface Parsed {
  /** What could be read. */
  readonly document: unknown;
  readonly positions: Positions;
  readonly faults: readonly SyntaxFault[];
  /** What could not be read: whether these are set, and to what, is not known. The empty path stands for all. */
  readonly unread: readonly Path[];
}

export function parseToml(text: string): Parsed {
  try {
    return { document: readToml(text), positions: tomlPositions(text), faults: [], unread: [] };
  } catch (thrown) {
    const around = new TomlPieces(text).parsed();
    return around.faults.length > 0 ? around : { ...around, faults: [faultOf(thrown, text)], unread: [[]] };
  }
}

function readToml(text: string): Tables {
  return parse(text, { maxDepth: MAX_DEPTH }) as Tables;
}

type Tables = Record<string, unknown>;

/** @throws whatever is not an error of the TOML. @param line the one on which the text begins, from 1 */
function faultOf(thrown: unknown, text: string, line = 1): SyntaxFault {
  if (!(thrown instanceof TomlError)) throw thrown;
  // The rest of the message repeats lines of the file.
  const what = oneLine(thrown.message.split('\n')[0].replace(/^Invalid TOML document: /, ''));
  const rest = text.split('\n')[thrown.line - 1]?.slice(thrown.column - 1) ?? '';
  const isBare = /^[a-z/.~-]/i.test(rest) && /^(invalid value|invalid date|illegal character in num)/.test(what);
  const hint = isBare ? `; ${QUOTES}` : '';
  return { line: line + thrown.line - 1, column: thrown.column, what: `not valid TOML: ${what}${hint}` };
}

const QUOTES = 'a text needs quotes, like "mainnet01"';

/**
 * The beginning of a table, and of a setting. Lists may go on for lines; the lines of their items begin with neither.
 */
const HEADER = /^\s*\[{1,2}\s*[A-Za-z_]/;
const SETTING = /^\s*(?:[\w.-]|"[^"]*"|'[^']*')+\s*=/;

/**
 * A file in which something is wrong, read piece by piece: each is the header of a table, or a setting with its value.
 */
class TomlPieces {
  readonly #lines: string[];
  readonly #document: Tables = {};
  readonly #faults: SyntaxFault[] = [];
  readonly #unread: Path[] = [];
  /** The lines on which tables and settings stand that have been read. */
  readonly #taken = new Map<string, number>();
  #table: string[] = [];

  constructor(text: string) {
    this.#lines = text.split('\n');
  }

  parsed(): Parsed {
    const begins = this.#lines.flatMap((line, i) => (i === 0 || HEADER.test(line) || SETTING.test(line) ? [i] : []));
    for (const [n, from] of begins.entries()) {
      this.#piece(from, begins[n + 1] ?? this.#lines.length);
      if (this.#faults.length < MOST_FAULTS) continue;
      this.#unread.push([]);
      break;
    }
    return {
      document: this.#document,
      positions: tomlPositions(this.#lines.join('\n')),
      faults: this.#faults,
      unread: this.#unread,
    };
  }

  #piece(from: number, to: number): void {
    const text = `${this.#lines.slice(from, to).join('\n')}\n`;
    const isHeader = HEADER.test(text);
    try {
      const read = readToml(text);
      if (isHeader) this.#begin(read, from);
      else this.#put(this.#table, read, from);
    } catch (thrown) {
      this.#faults.push(faultOf(thrown, text, from + 1));
      const [name] = (isHeader ? /^[^\]#\n]*/ : /^[^=]*/).exec(text)!;
      const path = [...name.matchAll(/[\w-]+/g)].map(([key]) => key);
      if (isHeader) this.#table = path.slice(0, 1);
      this.#unread.push(isHeader ? this.#table : [...this.#table, ...path]);
      // Positions are found by another reader of these lines, which would misread the faulty ones.
      this.#lines.fill('', from, to);
      if (path.length > 0) this.#lines[from] = isHeader ? `[${this.#table}]` : `${name}= 0`;
    }
  }

  #begin(header: Tables, line: number): void {
    this.#table = [];
    for (let inner: unknown = header; isTable(inner) && Object.keys(inner).length > 0; ) {
      const [key] = Object.keys(inner);
      this.#table.push(key);
      inner = inner[key];
    }
    if (this.#isTaken(this.#table, line, 'the table')) this.#lines[line] = '';
    else this.#put([], header, undefined);
  }

  /** @param line undefined for what cannot be there twice */
  #put(table: readonly string[], read: Tables, line: number | undefined): void {
    let target = this.#document;
    for (const key of table) {
      if (!Object.hasOwn(target, key)) setOwn(target, key, {});
      if (!isTable(target[key])) return;
      target = target[key];
    }
    for (const [key, value] of Object.entries(read)) {
      const path = [...table, key];
      if (isTable(value) && isTable(target[key]) && Object.hasOwn(target, key)) this.#put(path, value, line);
      else if (line === undefined || !this.#isTaken(path, line, 'the setting')) setOwn(target, key, value);
    }
  }

  #isTaken(path: readonly string[], line: number, what: string): boolean {
    const name = JSON.stringify(path);
    const first = this.#taken.get(name);
    if (first === undefined) {
      this.#taken.set(name, line);
      return false;
    }
    const column = this.#lines[line].search(/\S/) + 1;
    const shown = path.map((key) => oneLine(key).slice(0, 64)).join('.');
    const says = `${what} ${shown} is there already, on line ${first + 1}: make one of both`;
    this.#faults.push({ line: line + 1, column, what: says });
    return true;
  }
}

function isTable(value: unknown): value is Tables {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

/** Sets a key even if it is `__proto__`. */
function setOwn(table: Tables, key: string, value: unknown): void {
  Object.defineProperty(table, key, { value, writable: true, enumerable: true, configurable: true });
}

export function parseJson(text: string): Parsed {
  try {
    return { document: JSON.parse(text), positions: jsonPositions(text), faults: [], unread: [] };
  } catch {
    // V8's message repeats what is in the file, and names only the first fault.
    return parseFaultyJson(text);
  }
}

/** Tells a fault, mends it as its author probably meant it, and goes on. */
function parseFaultyJson(text: string): Parsed {
  const faults: SyntaxFault[] = [];
  const unread: Path[] = [];
  let mended: string | undefined = text;
  while (mended !== undefined) {
    const error = firstError(mended);
    if (error === undefined) break;
    const { at, what, mend }: Explained =
      error === 'too-deep' ? { at: 0, what: 'it is nested too deep' } : explain(error, mended);
    faults.push({ ...positionAt(mended, at), what: `not valid JSON: ${what}` });
    if (mend === undefined || faults.length === MOST_FAULTS) break;
    if (mend.hides) unread.push(getLocation(mended, at).path.slice(0, 2));
    mended = mended.slice(0, mend.from) + mend.by + mended.slice(mend.to);
  }
  try {
    const document = JSON.parse(mended);
    for (const [table, key] of unread) {
      if (isTable(document) && isTable(document[table]) && key !== undefined) delete document[table][key];
    }
    return { document, positions: jsonPositions(mended), faults, unread };
  } catch {
    const all = faults.length > 0 ? faults : [{ line: 1, column: 1, what: 'not valid JSON' }];
    return { document: {}, positions: () => undefined, faults: all, unread: [[]] };
  }
}

function firstError(text: string): ParseError | 'too-deep' | undefined {
  const errors: ParseError[] = [];
  try {
    parseTolerantly(text, errors, { disallowComments: true });
  } catch (thrown) {
    if (thrown instanceof RangeError) return 'too-deep'; // The parser calls itself for each level.
    throw thrown;
  }
  return errors[0];
}

/** What is replaced, by as many characters where possible, so that all else stays where it is. */
interface Mend {
  readonly from: number;
  readonly to: number;
  readonly by: string;
  /** Whether a value is lost by it. */
  readonly hides?: true;
}

interface Explained {
  readonly at: number;
  readonly what: string;
  /** Absent where nobody can tell what was meant. */
  readonly mend?: Mend;
}

function explain({ error, offset, length }: ParseError, text: string): Explained {
  const end = offset + length;
  const before = text.slice(0, offset).trimEnd();
  const rest = text.slice(offset);
  switch (printParseErrorCode(error)) {
    case 'PropertyNameExpected':
    case 'ValueExpected': {
      const at = before.length - 1;
      if (!before.endsWith(',') || !/^[\]}]/.test(rest)) return { at: offset, what: 'a value is expected here' };
      const what = 'a comma must not stand before the closing bracket (trailing comma)';
      return { at, what, mend: { from: at, to: at + 1, by: ' ' } };
    }
    case 'InvalidSymbol':
      return explainSymbol(text, offset);
    case 'CommaExpected': {
      const to = /^[ \t]/.test(text.slice(before.length)) ? before.length + 1 : before.length;
      return { at: offset, what: 'a comma is missing before this', mend: { from: before.length, to, by: ',' } };
    }
    case 'InvalidCommentToken':
    case 'UnexpectedEndOfComment': {
      const by = ' '.repeat(length);
      const what = 'JSON has no comments: remove this one, or write the file in TOML';
      return { at: offset, what, mend: { from: offset, to: end, by } };
    }
    case 'UnexpectedEndOfString': {
      const to = end - (/,\s*$/.exec(text.slice(offset, end))?.[0].length ?? 0);
      return { at: offset, what: 'this text has no closing quote', mend: { from: to, to, by: '"', hides: true } };
    }
    case 'CloseBraceExpected':
    case 'CloseBracketExpected': {
      const what = `a closing ${printParseErrorCode(error) === 'CloseBraceExpected' ? '}' : ']'} is missing`;
      return { at: offset, what };
    }
    case 'ColonExpected':
      return { at: offset, what: 'a colon is missing before this' };
    case 'EndOfFileExpected':
      return { at: offset, what: 'nothing may follow the last bracket' };
    case 'InvalidEscapeCharacter':
      return { at: offset, what: 'a backslash in a text is written twice: \\\\' };
    default:
      return { at: offset, what: 'this cannot stand here' };
  }
}

/** A word without double quotes: the name of a setting gets them, and a value is replaced by null. */
function explainSymbol(text: string, offset: number): Explained {
  // Of 8080x, only the last character is not understood.
  let at = offset;
  while (at > 0 && /[^\s,:{}[\]"]/.test(text[at - 1])) at--;
  const what = 'a text needs double quotes, like "mainnet01"';
  const rest = text.slice(at);
  const [, word = ''] = /^([^\s:,{}[\]"]+)\s*:/.exec(rest) ?? [];
  if (word !== '' && /[{,]$/.test(text.slice(0, at).trimEnd())) {
    return { at, what, mend: { from: at, to: at + word.length, by: `"${word.replaceAll(/['\\]/g, '')}"` } };
  }
  const [value] = /^[^,\]}\n]*/.exec(rest)!;
  return { at, what, mend: { from: at, to: at + value.length, by: 'null'.padEnd(value.length), hides: true } };
}
