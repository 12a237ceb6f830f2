/**
 * stderr, when it is a terminal: text that scrolls, and below it one line that stays. The cursor rests at the start of
 * that line. So whatever a resize makes of it is erased with it: terminals break long lines anew when they get narrower,
 * and take the cursor along. (The log-update package rests below the line, and leaves a part of it behind then.)
 */

/** Moves to the start of the row and erases everything from there on (ECMA-48 §8.3.39, ED). */
const CLEAR = '\r\x1b[J';
/** Between these a row that is too long is cut, not continued (DECAWM): the cursor stays in its row. */
const CUT = '\x1b[?7l';
const CONTINUE = '\x1b[?7h';

/** The width that is assumed of a terminal that does not tell its own. */
const USUAL_COLUMNS = 80;

interface Output {
  readonly columns?: number;
  write(text: string): unknown;
}

export class Screen {
  readonly #output: Output;
  #line = '';

  constructor(output: Output) {
    this.#output = output;
  }

  get columns(): number {
    return this.#output.columns || USUAL_COLUMNS;
  }

  get showsLine(): boolean {
    return this.#line !== '';
  }

  /** Writes above the line, all in one piece. @param text whole lines */
  write(text: string): void {
    this.#output.write(this.#line === '' ? text : `${CLEAR}${text}${this.#drawn}`);
  }

  /** Shows another line in place of the one before. @param line without a line break; empty, it is taken away */
  show(line: string): void {
    if (line === '' && this.#line === '') return;
    this.#line = line;
    this.#output.write(`${CLEAR}${this.#drawn}`);
  }

  get #drawn(): string {
    return this.#line === '' ? '' : `${CUT}${this.#line}${CONTINUE}\r`;
  }
}

/** The terminal behind stderr. There is one, and the log and the status line share it. */
export const screen = new Screen(process.stderr);
