/**
 * The terminal: the log on stderr, the status line, which stays below the log, and the keys. Between two writes, the
 * cursor is at the start of the status line. When a terminal becomes narrower, it wraps the status line and moves the
 * cursor with the start of this line, so the whole line can be erased from the cursor on. (The log-update package
 * leaves the cursor below the line, so a part of a wrapped line is not erased.)
 */

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { ReadStream } from 'node:tty';

/** Moves the cursor to the start of its row, and erases everything from the cursor on (ECMA-48 §8.3.39, ED). */
const CLEAR = '\r\x1b[J';
/**
 * After this code, text is cut at the end of its row instead of being wrapped, so the cursor stays in the row (DECAWM).
 */
const CUT = '\x1b[?7l';
/** After this code, text is wrapped again. */
const CONTINUE = '\x1b[?7h';

/** Moves the cursor to the first row and column, and erases the screen. */
const ERASE_SCREEN = '\x1b[H\x1b[2J';
/**
 * Switches to the second screen of the terminal (xterm, DECSET 1049), whose text is not kept for scrolling back.
 * Terminals without a second screen ignore the switch, so the screen is also erased.
 */
const COVER = `\x1b[?1049h${ERASE_SCREEN}`;
/** Erases the screen, and switches back to the first one. */
const UNCOVER = `${ERASE_SCREEN}\x1b[?1049l`;

/** Number of columns that is assumed if the terminal does not report its size. */
const USUAL_COLUMNS = 80;
/** Number of rows that is assumed if the terminal does not report its size. */
const USUAL_ROWS = 24;

interface Output {
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): unknown;
}

export class Screen {
  readonly #output: Output;
  #line = '';
  /** Text that is written when `uncover` is called; undefined while the log is shown. */
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

  /**
   * Writes text above the status line. While the screen is covered, the text is kept until `uncover`.
   * @param text whole lines, each with its line break
   */
  write(text: string): void {
    if (this.#held !== undefined) {
      this.#held += text;
      return;
    }
    this.#output.write(this.#line === '' ? text : `${CLEAR}${text}${this.#drawn}`);
  }

  /** Replaces the status line. @param line a text without a line break; an empty text removes the status line */
  show(line: string): void {
    if (line === '' && this.#line === '') return;
    this.#line = line;
    if (this.isCovered) return;
    this.#output.write(`${CLEAR}${this.#drawn}`);
  }

  /** Shows only this text until `uncover` is called. */
  cover(text: string): void {
    this.#held ??= '';
    this.#output.write(`${COVER}${text}`);
  }

  /** Shows the log and the status line again, with the text that was written meanwhile. */
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

/** The terminal on stderr, which the log and the status line share. */
export const screen = new Screen(process.stderr);

/* Keys from the terminal on stdin */

/** Maximum number of typed characters in one read. More characters are a pasted text, in which a `q` must not quit. */
const MOST_TYPED = 8;
/** Matches the sequences of keys that have no character, such as arrow keys (ECMA-48 §5.4; `ESC O x` on VT100s). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these sequences begin with ESC, a control character
const SEQUENCE = /\x1b(?:\[[0-?]*[ -/]*[@-~]|O.|[^[O])?/gs;

/** Characters of Ctrl+C, Ctrl+\ and Ctrl+Z. Except in raw mode, the terminal itself handles these keys. */
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
    // Reading fails when the terminal has been closed. This error must not end the process, because SIGHUP ends it.
    stdin.setEncoding('utf8').on('error', () => stdin.off('data', this.#listen));
  }

  /** Starts to read keys, in raw mode. Call this only in the foreground: see `isForeground`. */
  open(): void {
    this.#stdin.off('data', this.#listen).on('data', this.#listen).resume();
    // Another program may have changed the mode. Node ignores a second call for raw mode, so it is switched off first.
    this.#stdin.setRawMode(false).setRawMode(true);
  }

  close(): void {
    this.release();
    this.#stdin.setRawMode(false);
  }

  /** Stops reading, but does not change the mode, because another program may use the terminal now. */
  release(): void {
    this.#stdin.off('data', this.#listen).pause();
  }
}

/*
 * Foreground. The system stops a background process (`pickaxe mine &`) that changes the terminal's mode or reads from
 * the terminal (POSIX.1-2017 §11.1.4). Besides, the status line of a background process would be mixed with what the
 * user types.
 */

/**
 * Time between two checks of whether a background process has come to the foreground. Checks are rarer where each of
 * them starts a process.
 */
export const FOREGROUND_LOOK_MS = process.platform === 'linux' ? 1_000 : 5_000;

/** What a system says of process groups. */
interface GroupsView {
  readonly platform: NodeJS.Platform;
  /** @returns the text of `/proc/self/stat` */
  stat(): string;
  /** @returns the ids of two groups: of this process, and of the terminal's foreground */
  ps(): string;
}

const THIS_SYSTEM: GroupsView = {
  platform: process.platform,
  stat: () => readFileSync('/proc/self/stat', 'utf8'),
  ps: () => String(spawnSync('ps', ['-o', 'pgid=,tpgid=', '-p', String(process.pid)], { encoding: 'utf8' }).stdout),
};

/** @returns whether this process may read from the terminal and change its mode */
export function isForeground(system = THIS_SYSTEM): boolean {
  if (system.platform === 'win32') return true;
  const [group, terminalGroup] = system.platform === 'linux' ? groupsInStat(system.stat()) : groupsInPs(system.ps());
  // If the process has no terminal, terminalGroup is -1, 0 or NaN. Then no terminal can stop the process.
  return !(terminalGroup > 0) || group === terminalGroup;
}

/**
 * @returns the process groups of this process and of the terminal's foreground. In `/proc/self/stat`, the name of the
 *   process in brackets is followed by state, ppid, pgrp, session, tty_nr and tpgid (proc(5))
 */
function groupsInStat(stat: string): [number, number] {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return [Number(fields[2]), Number(fields[5])];
}

function groupsInPs(text: string): [number, number] {
  const [group, terminalGroup] = text.trim().split(/\s+/).map(Number);
  return [group, terminalGroup];
}

/* Capabilities of the terminal on stderr */

interface TerminalKind {
  /** Whether escape codes may be written, such as codes that move the cursor or erase text. */
  readonly escapes: boolean;
  /** Whether escape codes for colours may be written, too. */
  readonly colours: boolean;
}

export function terminalKind(
  isTty = process.stderr.isTTY === true,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): TerminalKind {
  const { TERM, CI, NO_COLOR } = environment;
  // CI runners provide a terminal, but people read its output as a file, in which escape codes are not interpreted.
  const isRunner = CI !== undefined && !['', '0', 'false'].includes(CI);
  const escapes = isTty && TERM !== 'dumb' && !isRunner;
  // https://no-color.org: any value that is not empty disables colours.
  return { escapes, colours: escapes && !NO_COLOR };
}

/* Colours (ECMA-48 §8.3.117, SGR) */

const CODES = { bold: [1, 22], dim: [2, 22], red: [31, 39], green: [32, 39], yellow: [33, 39] } as const;

export type Style = keyof typeof CODES;
export type Paint = (style: Style, text: string) => string;

export const inColours: Paint = (style, text) => `\x1b[${CODES[style][0]}m${text}\x1b[${CODES[style][1]}m`;

export const inPlain: Paint = (_style, text) => text;

/* Writing to a reader that may stop reading */

/** Lines are dropped while at least this many bytes wait for the reader, as when the reader has stopped reading. */
const MAX_UNREAD_BYTES = 16 * 1024 * 1024;

/**
 * Writes a line, or drops it if too many bytes wait for the reader. So a reader that stops reading neither stops mining
 * nor fills the memory.
 */
export function writeLine(to: NodeJS.WriteStream, line: string): void {
  if (to.writableLength < MAX_UNREAD_BYTES) to.write(line);
}
