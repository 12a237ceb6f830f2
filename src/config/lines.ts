/**
 * Finds the line of a file on which each key stands, for errors and sources. It reads files that their parsers have
 * accepted; a path that it does not find has the line of the table or list that it is in.
 */

import type { Path } from './said.ts';

/** The line of a path, from 1; undefined for the file as a whole. */
export type Lines = (path: Path) => number | undefined;

type Token = readonly [text: string, line: number];

/** TOML 1.0, "Strings", "Keys" and "Comments". Strings of several lines come first, because they begin like the others. */
const TOML_TOKEN =
  /"""[^"\\]*(?:(?:\\[\s\S]|"(?!""))[^"\\]*)*"{3,5}|'''[^']*(?:'(?!'')[^']*)*'{3,5}|"[^"\\\n]*(?:\\.[^"\\\n]*)*"|'[^'\n]*'|#[^\n]*|\n|[[\]{}=,.]|[^\s"'#[\]{}=,.]+/g;

export function tomlLines(toml: string): Lines {
  const found = new Map<string, number>();
  let table: string[] = [];
  for (const statement of statements(tokens(toml, TOML_TOKEN))) {
    const line = statement[0][1];
    if (statement[0][0] === '[') {
      table = keysOf(statement);
      note(found, table, line);
    } else {
      const equals = statement.findIndex(([text]) => text === '=');
      note(found, [...table, ...keysOf(statement.slice(0, equals))], line);
    }
  }
  return (path) => lineOf(found, path);
}

/** Yields headers, and keys with their values, without comments: each ends with its line, or with its last bracket's line. */
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

const JSON_TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|\n|[[\]{}:,]|[^\s"[\]{}:,]+/g;

export function jsonLines(json: string): Lines {
  const found = new Map<string, number>();
  const path: (string | number)[] = [];
  /** For each open bracket, whether it opens an object. */
  const open: boolean[] = [];
  let key = false;
  for (const [text, line] of tokens(json, JSON_TOKEN)) {
    if (text === '\n' || text === ':') continue;
    if (text === '}' || text === ']') {
      open.pop();
      path.pop();
    } else if (text === ',') {
      if (!open.at(-1)) path[path.length - 1] = Number(path.at(-1)) + 1;
      key = open.at(-1) === true;
    } else if (key) {
      path[path.length - 1] = keyOf(text);
      note(found, path, line);
      key = false;
    } else {
      note(found, path, line);
      if (text === '{' || text === '[') {
        key = text === '{';
        open.push(key);
        path.push(key ? '' : 0);
      }
    }
  }
  return (path) => lineOf(found, path);
}

function* tokens(text: string, token: RegExp): Generator<Token> {
  let line = 1;
  for (const [match] of text.matchAll(token)) {
    yield [match, line];
    line += match.split('\n').length - 1;
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

/** Notes the first line on which a path, or something in it, is mentioned. */
function note(found: Map<string, number>, path: Path, line: number): void {
  for (let length = Math.min(path.length, MAX_DEPTH); length > 0; length--) {
    const name = nameOf(path.slice(0, length));
    if (found.has(name)) return;
    found.set(name, line);
  }
}

function lineOf(found: ReadonlyMap<string, number>, path: Path): number | undefined {
  for (let length = Math.min(path.length, MAX_DEPTH); length > 0; length--) {
    const line = found.get(nameOf(path.slice(0, length)));
    if (line !== undefined) return line;
  }
  return undefined;
}

function nameOf(path: Path): string {
  return JSON.stringify(path);
}
