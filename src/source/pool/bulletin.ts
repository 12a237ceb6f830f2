/** What a pool says to people: each text is passed on once, on one line, and not too many of them. Words about a ban are kept. */

import { quote, speaksOfBan } from './errors.ts';
import { MOST_MESSAGES } from './limits.ts';

export class Bulletin {
  readonly #tell: (text: string) => void;
  #last = '';
  #told = 0;
  #ban: string | undefined;

  constructor(tell: (text: string) => void) {
    this.#tell = tell;
  }

  /** What the pool said about a ban; undefined when it said nothing about one. */
  get ban(): string | undefined {
    return this.#ban;
  }

  /** Passes a text on, unless it is the last one again or there were too many. */
  show(text: unknown): void {
    if (typeof text !== 'string') return;
    this.note(text);
    const line = quote(text);
    if (line === '' || line === this.#last || this.#told === MOST_MESSAGES) return;
    this.#last = line;
    this.#told += 1;
    this.#tell(`the pool says: “${line}”`);
  }

  /** Keeps a text if it is about a ban. */
  note(text: string): void {
    if (speaksOfBan(text)) this.#ban = quote(text);
  }
}
