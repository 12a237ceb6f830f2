/**
 * stderr, when it is a terminal: text that scrolls, and below it one line that stays. The cursor rests at the start of
 * that line, because a terminal that gets narrower wraps long lines again and moves the cursor with them: from there
 * the whole line can be erased. (The log-update package leaves the cursor below the line, and then a part of the line
 * stays behind.)
 */

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { ReadStream } from 'node:tty';

/** Moves to the start of the row and erases everything from there on (ECMA-48 §8.3.39, ED). */
const CLEAR = '\r\x1b[J';
/** Between these two, a row that is too long is cut and not continued (DECAWM), so the cursor stays in its row. */
const CUT = '\x1b[?7l';
const CONTINUE = '\x1b[?7h';

/**
 * The second screen that most terminals have (xterm, DECSET 1049). What it shows is not kept for scrolling back.
 * Terminals without one show its text on the first screen, so the text is erased before and after.
 */
const ERASE_SCREEN = '\x1b[H\x1b[2J';
const COVER = `\x1b[?1049h${ERASE_SCREEN}`;
const UNCOVER = `${ERASE_SCREEN}\x1b[?1049l`;

/** The assumed width of a terminal that does not report its own. */
const USUAL_COLUMNS = 80;
const USUAL_ROWS = 24;

interface Output {
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): unknown;
}

export class Screen {
  readonly #output: Output;
  #line = '';
  /** What is to be written once the cover is gone; undefined without one. */
  #held: string | undefined;

  constructor(output: Output) {
    this.#output = output;
  }

  get columns(): number {
    return this.#output.columns || USUAL_COLUMNS;
  }

  get rows(): number {
    return this.#output.rows || USUAL_ROWS;
  }

  get isCovered(): boolean {
    return this.#held !== undefined;
  }

  get showsLine(): boolean {
    return this.#line !== '';
  }

  /** Writes above the line, in one piece. @param text whole lines */
  write(text: string): void {
    if (this.#held !== undefined) {
      this.#held += text;
      return;
    }
    this.#output.write(this.#line === '' ? text : `${CLEAR}${text}${this.#drawn}`);
  }

  /** Replaces the line. @param line without a line break; an empty one removes it */
  show(line: string): void {
    if (line === '' && this.#line === '') return;
    this.#line = line;
    if (this.isCovered) return;
    this.#output.write(`${CLEAR}${this.#drawn}`);
  }

  /** Shows a text in place of everything else. Whatever is written waits until `uncover`. */
  cover(text: string): void {
    this.#held ??= '';
    this.#output.write(`${COVER}${text}`);
  }

  /** Goes back to the log. The text is not kept anywhere. */
  uncover(): void {
    const held = this.#held;
    if (held === undefined) return;
    this.#held = undefined;
    this.#output.write(`${UNCOVER}${CLEAR}${held}${this.#drawn}`);
  }

  get #drawn(): string {
    return this.#line === '' ? '' : `${CUT}${this.#line}${CONTINUE}\r`;
  }
}

/** The terminal behind stderr. There is one, and the log and the status line share it. */
export const screen = new Screen(process.stderr);

/* Single keys from the terminal behind stdin. */

/** More characters than this at once were pasted, not typed, and a `q` in a pasted text must not quit. */
const MOST_TYPED = 8;
/** Keys without a letter send a sequence that begins with ESC (ECMA-48 §5.4; `ESC O x` on VT100s). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these sequences begin with one
const SEQUENCE = /\x1b(?:\[[0-?]*[ -/]*[@-~]|O.|[^[O])?/gs;

/** The keys that a terminal handles itself, except in raw mode. */
const CONTROL = { '\x03': 'interrupt', '\x1c': 'interrupt', '\x1a': 'suspend' } as const;

/** A character that was typed, or the meaning of a control key. */
export type Key = { readonly typed: string } | { readonly control: (typeof CONTROL)[keyof typeof CONTROL] };

export function keysOf(text: string): Key[] {
  const characters = [...text.replace(SEQUENCE, '')];
  const controls = characters.filter((key) => key in CONTROL) as (keyof typeof CONTROL)[];
  if (controls.length > 0) return controls.map((key) => ({ control: CONTROL[key] }));
  if (characters.length > MOST_TYPED) return [];
  return characters.map((typed) => ({ typed: typed.toLowerCase() }));
}

export class Keyboard {
  readonly #stdin: ReadStream;
  readonly #onKey: (key: Key) => void;
  readonly #listen = (chunk: string) => {
    for (const key of keysOf(chunk)) this.#onKey(key);
  };

  constructor(stdin: ReadStream, onKey: (key: Key) => void) {
    this.#stdin = stdin;
    this.#onKey = onKey;
    // A terminal that is gone sends no keys. SIGHUP, not this error, ends the process.
    stdin.setEncoding('utf8').on('error', () => stdin.off('data', this.#listen));
  }

  /** Starts to read keys. To be called in the foreground only: see `isForeground`. */
  open(): void {
    this.#stdin.off('data', this.#listen).on('data', this.#listen).resume();
    // A program that had the terminal in between may have changed its mode.
    this.#stdin.setRawMode(false).setRawMode(true);
  }

  /** Restores the terminal's usual mode. */
  close(): void {
    this.release();
    this.#stdin.setRawMode(false);
  }

  /** Stops reading, and leaves the terminal's mode to the program that has the terminal now. */
  release(): void {
    this.#stdin.off('data', this.#listen).pause();
  }
}

/*
 * Whether this process has its terminal to itself. A job in the background (`pickaxe mine &`) that changes the
 * terminal's mode or reads from it is stopped (POSIX.1-2017 §11.1.4), and what it draws lands in what the user types.
 */

/** Milliseconds between two checks from the background: outside Linux, each check starts a process. */
export const FOREGROUND_LOOK_MS = process.platform === 'linux' ? 1_000 : 5_000;

export function isForeground(): boolean {
  if (process.platform === 'win32') return true;
  const [group, terminalGroup] = process.platform === 'linux' ? fromProc() : fromPs();
  // A process without a terminal of its own (-1 and the like) is not stopped.
  return !(terminalGroup > 0) || group === terminalGroup;
}

/** proc(5): after the name in brackets come state, ppid, pgrp, session, tty_nr, tpgid. */
function fromProc(): [number, number] {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return [Number(fields[2]), Number(fields[5])];
}

/** On other systems, ps reports both groups. */
function fromPs(): [number, number] {
  const { stdout } = spawnSync('ps', ['-o', 'pgid=,tpgid=', '-p', String(process.pid)], { encoding: 'utf8' });
  const [group, terminalGroup] = String(stdout).trim().split(/\s+/).map(Number);
  return [group, terminalGroup];
}

/* What may be written to the terminal behind stderr, where there is one. */

interface TerminalKind {
  /** It understands escape codes, which move the cursor and erase. Without this, none is ever written. */
  readonly escapes: boolean;
  readonly colours: boolean;
}

/** @param isTty whether stderr is a terminal */
export function terminalKind(
  isTty = process.stderr.isTTY === true,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): TerminalKind {
  const { TERM, CI, NO_COLOR } = environment;
  // CI runners give a terminal whose output is read as a file.
  const isRunner = CI !== undefined && !['', '0', 'false'].includes(CI);
  const escapes = isTty && TERM !== 'dumb' && !isRunner;
  // https://no-color.org: any value that is not empty.
  return { escapes, colours: escapes && !NO_COLOR };
}

/* Colours of the terminal (ECMA-48 §8.3.117, SGR), or none. */

const CODES = { bold: [1, 22], dim: [2, 22], red: [31, 39], yellow: [33, 39] } as const;

export type Style = keyof typeof CODES;
export type Paint = (style: Style, text: string) => string;

export const inColours: Paint = (style, text) => `\x1b[${CODES[style][0]}m${text}\x1b[${CODES[style][1]}m`;

export const inPlain: Paint = (_style, text) => text;

/* Writes to a reader that may stop reading without going away. */

/** Maximum number of bytes that wait for the reader: hours of events. */
const MAX_UNREAD_BYTES = 16 * 1024 * 1024;

/**
 * Never waits for the reader: once too much is unread, further lines are lost, which costs neither mining nor memory.
 */
export function writeLine(to: NodeJS.WriteStream, line: string): void {
  if (to.writableLength < MAX_UNREAD_BYTES) to.write(line);
}
