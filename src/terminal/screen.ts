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

/**
 * The second screen that most terminals have (xterm, DECSET 1049). What it shows is not kept for scrolling back. Terminals without
 * one show its text on the first screen, so the text is erased before and after.
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
