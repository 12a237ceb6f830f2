/** Single keys from the terminal behind stdin. */

import type { ReadStream } from 'node:tty';

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

  /** Starts to read keys. To be called in the foreground only: see foreground.ts. */
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
