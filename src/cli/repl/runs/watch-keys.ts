/** The keys of `repl --watch` on a terminal. */

import type { ReadStream } from 'node:tty';
import { isForeground, type Key, Keyboard } from '../../../rig/terminal/screen.ts';
import type { Terminal } from '../../io.ts';

/** What is to be run: all tests, those of files that failed, the same again, or those with a text in their names. */
export type Wish = 'all' | 'failed' | 'again' | { readonly filter: string };

const HELP = 'Keys: a all tests, f failed files, p tests by name, Enter the same again, q quit';
const QUESTION = 'Tests with this text in their names: ';

const ENTER = '\r';
const WISHES: ReadonlyMap<string, Wish> = new Map<string, Wish>([
  ['a', 'all'],
  ['f', 'failed'],
  [ENTER, 'again'],
]);
const BACKSPACE: ReadonlySet<string> = new Set(['\x7f', '\b']);

interface Told {
  /** Called when there is a wish, and when no text is typed any more. */
  readonly wake: () => void;
  readonly quit: () => void;
  /** Stops the process group, as Ctrl-Z does in the terminal's usual mode. */
  readonly suspend?: () => void;
}

export class WatchKeys {
  readonly #output: NodeJS.WritableStream;
  readonly #keyboard: Keyboard;
  readonly #told: Told;
  readonly #isForeground: () => boolean;
  #isOpen = false;
  #wish: Wish | undefined;
  /** The text for the tests' names that is being typed; undefined while none is. */
  #typed: string | undefined;

  /** @returns undefined if keys cannot be read from the terminal */
  static of(terminal: Terminal | undefined, told: Told, foreground = isForeground): WatchKeys | undefined {
    if (!terminal || !('setRawMode' in terminal.input)) return undefined;
    return new WatchKeys(terminal.input as ReadStream, terminal.output, told, foreground);
  }

  constructor(input: ReadStream, output: NodeJS.WritableStream, told: Told, foreground: () => boolean) {
    this.#output = output;
    this.#told = told;
    this.#isForeground = foreground;
    this.#keyboard = new Keyboard(input, (key) => this.#pressed(key));
    process.on('SIGCONT', this.#continued);
  }

  get isTyping(): boolean {
    return this.#typed !== undefined;
  }

  get hasWish(): boolean {
    return this.#wish !== undefined;
  }

  /** Begins to read keys, if this process is in the foreground. It may have come there since the last call. */
  open(): void {
    if (this.#isOpen || !this.#isForeground()) return;
    this.#isOpen = true;
    this.#keyboard.open();
  }

  close(): void {
    process.off('SIGCONT', this.#continued);
    this.#leave();
  }

  /** @returns the last wish since the last call; undefined if there was none */
  take(): Wish | undefined {
    const wish = this.#wish;
    this.#wish = undefined;
    return wish;
  }

  #leave(): void {
    if (this.#isOpen) this.#keyboard.close();
    this.#isOpen = false;
  }

  /** Handles SIGCONT. A shell may be using the terminal now, so its mode stays unless this is the foreground. */
  readonly #continued = (): void => {
    if (this.#isOpen) this.#keyboard.release();
    this.#isOpen = false;
    this.open();
  };

  #pressed(key: Key): void {
    if ('control' in key) {
      if (key.control === 'interrupt') this.#told.quit();
      else this.#suspend();
    } else if (this.#typed !== undefined) this.#type(this.#typed, key.typed);
    else this.#choose(key.typed);
  }

  #choose(key: string): void {
    const wish = WISHES.get(key);
    if (wish !== undefined) this.#want(wish);
    else if (key === 'h') this.#output.write(`${HELP}\n`);
    else if (key === 'q') this.#told.quit();
    else if (key === 'p') {
      this.#typed = '';
      this.#output.write(QUESTION);
    }
  }

  /** @param before the text that was typed before this key */
  #type(before: string, key: string): void {
    if (key === ENTER) {
      this.#typed = undefined;
      this.#output.write('\n');
      this.#want({ filter: before });
    } else if (BACKSPACE.has(key)) {
      const [...characters] = before;
      if (characters.length > 0) this.#output.write('\b \b');
      this.#typed = characters.slice(0, -1).join('');
    } else if (key >= ' ') {
      this.#output.write(key);
      this.#typed = before + key;
    }
  }

  #want(wish: Wish): void {
    this.#wish = wish;
    this.#told.wake();
  }

  #suspend(): void {
    if (process.platform === 'win32') return;
    this.#leave();
    const { suspend = () => void process.kill(0, 'SIGTSTP') } = this.#told;
    suspend();
    this.open();
  }
}
