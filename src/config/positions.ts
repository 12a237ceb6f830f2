/**
 * Finds where in a file each key stands, for errors and sources. It reads files that their parsers have accepted; a
 * path that it does not find stands where the table or list does that it is in.
 */

import type { Path } from './raw-settings.ts';

/** Line and column count from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** The position of a path; undefined for the file as a whole. */
export type Positions = (path: Path) => Position | undefined;

type Token = readonly [text: string, position: Position];

/**
 * TOML 1.0, "Strings", "Keys" and "Comments". Strings of several lines come first, because they begin like the others.
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
 * Yields headers, and keys with their values, without comments: each ends with its line, or with its last bracket's
 * line.
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
  /** Where the line begins. */
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
    return text.slice(1, -1); // TOML has an escape sequence that JSON lacks.
  }
}

/** Tables hold settings, settings hold lists, and no path is longer. */
const MAX_DEPTH = 3;

/** Notes where a path, or something in it, is mentioned first. */
function note(found: Map<string, Position>, path: Path, position: Position): void {
  for (let length = Math.min(path.length, MAX_DEPTH); length > 0; length--) {
    const name = nameOf(path.slice(0, length));
    if (found.has(name)) return;
    found.set(name, position);
  }
}

function positionIn(found: ReadonlyMap<string, Position>, path: Path): Position | undefined {
  for (let length = Math.min(path.length, MAX_DEPTH); length > 0; length--) {
    const position = found.get(nameOf(path.slice(0, length)));
    if (position !== undefined) return position;
  }
  return undefined;
}

function nameOf(path: Path): string {
  return JSON.stringify(path);
}
