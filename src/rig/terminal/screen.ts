/**
 * The terminal on stderr, with text that scrolls and one line below it that stays, and its keys. The cursor rests at
 * the start of that line: a terminal that gets narrower wraps long lines again and moves the cursor with them, so the
 * whole line can be erased from there. (The log-update package leaves the cursor below the line, and a part of the line
 * stays.)
 */

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { ReadStream } from 'node:tty';

/** Moves to the start of the row and erases from there on (ECMA-48 §8.3.39, ED). */
const CLEAR = '\r\x1b[J';
/** Text between these codes is cut at the end of its row, not wrapped (DECAWM), so the cursor stays in the row. */
const CUT = '\x1b[?7l';
const CONTINUE = '\x1b[?7h';

/**
 * Switch to the second screen of most terminals (xterm, DECSET 1049), which is not kept for scrolling back, and back to
 * the first. Terminals without a second screen show its text on the first, so the text is erased before and after.
 */
const ERASE_SCREEN = '\x1b[H\x1b[2J';
const COVER = `\x1b[?1049h${ERASE_SCREEN}`;
const UNCOVER = `${ERASE_SCREEN}\x1b[?1049l`;

/** Assumed size of a terminal that does not report its own. */
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
  /** Text that waits for `uncover`; undefined while the log is shown. */
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

  /** @param text whole lines, which are written above the line in one piece */
  write(text: string): void {
    if (this.#held !== undefined) {
      this.#held += text;
      return;
    }
    this.#output.write(this.#line === '' ? text : `${CLEAR}${text}${this.#drawn}`);
  }

  /** @param line without a line break; an empty one removes the line */
  show(line: string): void {
    if (line === '' && this.#line === '') return;
    this.#line = line;
    if (this.isCovered) return;
    this.#output.write(`${CLEAR}${this.#drawn}`);
  }

  /** Shows only this text. Everything written waits until `uncover`. */
  cover(text: string): void {
    this.#held ??= '';
    this.#output.write(`${COVER}${text}`);
  }

  /** Shows the log again. */
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

/** Shared by the log and the status line. */
export const screen = new Screen(process.stderr);

/* Keys from the terminal on stdin */

/** Maximum number of characters in one read that count as typed: a `q` in a pasted text must not quit. */
const MOST_TYPED = 8;
/** Sequences of keys without a character begin with ESC (ECMA-48 §5.4; `ESC O x` on VT100s). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these sequences begin with one
const SEQUENCE = /\x1b(?:\[[0-?]*[ -/]*[@-~]|O.|[^[O])?/gs;

/** Keys that a terminal handles itself, except in raw mode. */
const CONTROL = { '\x03': 'interrupt', '\x1c': 'interrupt', '\x1a': 'suspend' } as const;

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
    // A closed terminal sends no keys. SIGHUP, not this error, ends the process.
    stdin.setEncoding('utf8').on('error', () => stdin.off('data', this.#listen));
  }

  /** Call this only in the foreground: see `isForeground`. */
  open(): void {
    this.#stdin.off('data', this.#listen).on('data', this.#listen).resume();
    // Another program may have changed the mode meanwhile.
    this.#stdin.setRawMode(false).setRawMode(true);
  }

  close(): void {
    this.release();
    this.#stdin.setRawMode(false);
  }

  /** Stops reading, but leaves the mode to the program that uses the terminal now. */
  release(): void {
    this.#stdin.off('data', this.#listen).pause();
  }
}

/*
 * Foreground: a background job (`pickaxe mine &`) that changes the terminal's mode or reads from it is stopped
 * (POSIX.1-2017 §11.1.4), and its output would be mixed with what the user types.
 */

/** Time between checks from the background. Outside Linux, each check starts a process. */
export const FOREGROUND_LOOK_MS = process.platform === 'linux' ? 1_000 : 5_000;

export function isForeground(): boolean {
  if (process.platform === 'win32') return true;
  const [group, terminalGroup] = process.platform === 'linux' ? fromProc() : fromPs();
  // Without a terminal (the group is -1, 0 or unknown), a background process is not stopped.
  return !(terminalGroup > 0) || group === terminalGroup;
}

/** proc(5): the name in brackets is followed by state, ppid, pgrp, session, tty_nr, tpgid. */
function fromProc(): [number, number] {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return [Number(fields[2]), Number(fields[5])];
}

function fromPs(): [number, number] {
  const { stdout } = spawnSync('ps', ['-o', 'pgid=,tpgid=', '-p', String(process.pid)], { encoding: 'utf8' });
  const [group, terminalGroup] = String(stdout).trim().split(/\s+/).map(Number);
  return [group, terminalGroup];
}

/* Capabilities of the terminal on stderr */

interface TerminalKind {
  /** Whether the terminal supports escape codes, which move the cursor and erase. If not, none are written. */
  readonly escapes: boolean;
  readonly colours: boolean;
}

export function terminalKind(
  isTty = process.stderr.isTTY === true,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): TerminalKind {
  const { TERM, CI, NO_COLOR } = environment;
  // CI runners provide a terminal whose output is read as a file.
  const isRunner = CI !== undefined && !['', '0', 'false'].includes(CI);
  const escapes = isTty && TERM !== 'dumb' && !isRunner;
  // https://no-color.org: any value that is not empty.
  return { escapes, colours: escapes && !NO_COLOR };
}

/* Colours (ECMA-48 §8.3.117, SGR) */

const CODES = { bold: [1, 22], dim: [2, 22], red: [31, 39], yellow: [33, 39] } as const;

export type Style = keyof typeof CODES;
export type Paint = (style: Style, text: string) => string;

export const inColours: Paint = (style, text) => `\x1b[${CODES[style][0]}m${text}\x1b[${CODES[style][1]}m`;

export const inPlain: Paint = (_style, text) => text;

/* Writing to a reader that may stop reading */

/** Maximum number of unread bytes: hours of events. */
const MAX_UNREAD_BYTES = 16 * 1024 * 1024;

/** Drops lines while too much is unread, so that a reader costs neither mining nor memory. */
export function writeLine(to: NodeJS.WriteStream, line: string): void {
  if (to.writableLength < MAX_UNREAD_BYTES) to.write(line);
}
