/** Parses a configuration file. Goes on after a fault, so that up to `MOST_FAULTS` faults are reported at once. */

import { parse, TomlError } from 'smol-toml';
import { oneLine } from '../../base/text/plain-text.ts';
import type { Path } from './raw-settings.ts';
import { remedyOf } from './toml-mistakes.ts';

/** Maximum depth of nested tables and lists. A configuration needs three. */
const MAX_DEPTH = 32;

/** A place that is not valid TOML. */
interface SyntaxFault extends Position {
  /** What is wrong, and often the remedy. Does not repeat values, which may be secret. */
  readonly what: string;
}

/** Number of faults after which the rest of the file is not read. Nobody repairs more faults at once. */
const MOST_FAULTS = 50;

interface Parsed {
  readonly document: unknown;
  readonly positions: Positions;
  readonly faults: readonly SyntaxFault[];
  /** Paths that the file may set, but that could not be read. The empty path stands for the whole file. */
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

/** @param line number of the text's first line in the file, from 1 @throws any error that is not a TomlError */
function faultOf(thrown: unknown, text: string, line = 1): SyntaxFault {
  if (!(thrown instanceof TomlError)) throw thrown;
  // Only the first line of the message is used, because the other lines repeat the file.
  const what = oneLine(thrown.message.split('\n')[0].replace(/^Invalid TOML document: /, ''));
  const faulty = text.split('\n')[thrown.line - 1] ?? '';
  const remedy = remedyOf({ what, line: faulty, rest: faulty.slice(thrown.column - 1) });
  const hint = remedy === undefined ? '' : `; ${remedy}`;
  return { line: line + thrown.line - 1, column: thrown.column, what: `not valid TOML: ${what}${hint}` };
}

/**
 * `HEADER` matches the header of a table, and `SETTING` the first line of a setting. Neither matches a further line of
 * a list.
 */
const HEADER = /^\s*\[{1,2}\s*[A-Za-z_]/;
const SETTING = /^\s*(?:[\w.-]|"[^"]*"|'[^']*')+\s*=/;

/** Reads a faulty file in pieces. A piece is the header of a table, or a setting with its value. */
class TomlPieces {
  readonly #lines: string[];
  readonly #document: Tables = {};
  readonly #faults: SyntaxFault[] = [];
  readonly #unread: Path[] = [];
  /** Line number, from 0, of each table and setting that has been read, by its path. */
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
      // The faulty lines are replaced, because `tomlPositions` would misread them.
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

  /** @param line number of the piece's first line, from 0; undefined for a header, which `#begin` has checked before */
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
    const name = nameOf(path);
    const first = this.#taken.get(name);
    if (first === undefined) {
      this.#taken.set(name, line);
      return false;
    }
    const column = this.#lines[line].search(/\S/) + 1;
    const shown = path.map((key) => oneLine(key).slice(0, 64)).join('.');
    const fault = `${what} ${shown} is there already, on line ${first + 1}: make one of both`;
    this.#faults.push({ line: line + 1, column, what: fault });
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

/* Positions of keys. If a path is not found, the position of its table or list is used. */

/** A line and a column in a file, both from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/**
 * Returns the position of a path. If the path has no position, returns that of its nearest ancestor with a position;
 * undefined if there is no such ancestor.
 */
export type Positions = (path: Path) => Position | undefined;

type Token = readonly [text: string, position: Position];

/**
 * Matches one token (TOML 1.0, "Strings", "Keys" and "Comments"). Multi-line strings are tried first, because they
 * begin like other strings.
 */
const TOML_TOKEN =
  /"""[^"\\]*(?:(?:\\[\s\S]|"(?!""))[^"\\]*)*"{3,5}|'''[^']*(?:'(?!'')[^']*)*'{3,5}|"[^"\\\n]*(?:\\.[^"\\\n]*)*"|'[^'\n]*'|#[^\n]*|\n|[[\]{}=,.]|[^\s"'#[\]{}=,.]+/g;

export function tomlPositions(toml: string): Positions {
  const found = new Map<string, Position>();
  let table: string[] = [];
  for (const statement of statements(tokens(toml))) {
    const [[first, position]] = statement;
    if (first === '[') {
      table = keysOf(statement);
      note(found, table, position);
    } else {
      const equals = statement.findIndex(([text]) => text === '=');
      note(found, [...table, ...keysOf(statement.slice(0, equals))], position);
    }
  }
  return (path) => positionIn(found, path);
}

/**
 * Yields the tokens of each statement: a header, or a key with its value. A statement ends at the first line break
 * outside of brackets. Comments are skipped.
 */
function* statements(all: Iterable<Token>): Generator<Token[]> {
  let statement: Token[] = [];
  let depth = 0;
  for (const token of all) {
    const [text] = token;
    if (text.startsWith('#')) continue;
    if (text === '[' || text === '{') depth++;
    if (text === ']' || text === '}') depth--;
    if (text !== '\n') statement.push(token);
    else if (depth === 0 && statement.length > 0) {
      yield statement;
      statement = [];
    }
  }
  if (statement.length > 0) yield statement;
}

function keysOf(tokens: readonly Token[]): string[] {
  return tokens.filter(([text]) => !/^[[\].]$/.test(text)).map(([text]) => keyOf(text));
}

function* tokens(text: string): Generator<Token> {
  let line = 1;
  /** Index of the first character of the present line. */
  let start = 0;
  for (const { 0: match, index } of text.matchAll(TOML_TOKEN)) {
    yield [match, { line, column: index - start + 1 }];
    const lastBreak = match.lastIndexOf('\n');
    if (lastBreak < 0) continue;
    line += match.split('\n').length - 1;
    start = index + lastBreak + 1;
  }
}

/** @returns a key without its quotes */
function keyOf(text: string): string {
  if (text.startsWith("'")) return text.slice(1, -1);
  if (!text.startsWith('"')) return text;
  try {
    return `${JSON.parse(text)}`;
  } catch {
    return text.slice(1, -1); // The key has an escape sequence of TOML that JSON does not have.
  }
}

/** Maximum number of parts of a path: a table, a setting, and an index in a list. */
const MAX_PATH = 3;

/** Stores the position of a path, and of each path above it, unless an earlier position is known. */
function note(found: Map<string, Position>, path: Path, position: Position): void {
  for (let length = Math.min(path.length, MAX_PATH); length > 0; length--) {
    const name = nameOf(path.slice(0, length));
    if (found.has(name)) return;
    found.set(name, position);
  }
}

function positionIn(found: ReadonlyMap<string, Position>, path: Path): Position | undefined {
  for (let length = Math.min(path.length, MAX_PATH); length > 0; length--) {
    const position = found.get(nameOf(path.slice(0, length)));
    if (position !== undefined) return position;
  }
  return undefined;
}

function nameOf(path: Path): string {
  return JSON.stringify(path);
}
