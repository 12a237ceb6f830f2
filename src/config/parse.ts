/**
 * Parses the text of a configuration file. A text with faults is parsed around them, so that all of them are told at
 * once.
 */

import { parse, TomlError } from 'smol-toml';
import { oneLine } from '../text/plain-text.ts';
import { type Position, type Positions, tomlPositions } from './positions.ts';
import type { Path } from './raw-settings.ts';

/** Levels of tables and lists within each other: a configuration has three. */
const MAX_DEPTH = 32;

/** A place at which the text is not TOML. */
interface SyntaxFault extends Position {
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
