/**
 * stderr, when it is a terminal: text that scrolls, and below it one line that stays. The cursor rests at the start of
 * that line, because a terminal that gets narrower wraps long lines again and moves the cursor with them: from there the whole
 * line can be erased. (The log-update package leaves the cursor below the line, and then a part of the line stays behind.)
 */

/** Moves to the start of the row and erases everything from there on (ECMA-48 §8.3.39, ED). */
const CLEAR = '\r\x1b[J';
/** Between these two, a row that is too long is cut and not continued (DECAWM), so the cursor stays in its row. */
const CUT = '\x1b[?7l';
const CONTINUE = '\x1b[?7h';

/** The assumed width of a terminal that does not report its own. */
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

  /** Writes above the line, in one piece. @param text whole lines */
  write(text: string): void {
    this.#output.write(this.#line === '' ? text : `${CLEAR}${text}${this.#drawn}`);
  }

  /** Replaces the line. @param line without a line break; an empty one removes it */
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
