/** Single keys from the terminal behind stdin. */

import type { ReadStream } from 'node:tty';

/** More characters than this at once were pasted, not typed: nobody wants the `q` of a pasted text to quit. */
const MOST_TYPED = 8;
/** Keys without a letter: a sequence that begins with ESC (ECMA-48 §5.4; `ESC O x` as VT100s have it). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: that is what they begin with
const SEQUENCE = /\x1b(?:\[[0-?]*[ -/]*[@-~]|O.|[^[O])?/gs;

/** The keys that a terminal acts on itself, except in raw mode. */
const CONTROL = { '\x03': 'interrupt', '\x1c': 'interrupt', '\x1a': 'suspend' } as const;

/** A letter or sign that was typed, or what a control key means. */
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
    // A terminal that has gone away has no keys; that the process ends is for SIGHUP to say.
    stdin.setEncoding('utf8').on('error', () => stdin.off('data', this.#listen));
  }

  /** Only in the foreground: see foreground.ts. */
  open(): void {
    this.#stdin.off('data', this.#listen).on('data', this.#listen).resume();
    // Whoever had the terminal in between may have changed its mode.
    this.#stdin.setRawMode(false).setRawMode(true);
  }

  /** Gives the terminal its usual mode again. */
  close(): void {
    this.rest();
    this.#stdin.setRawMode(false);
  }

  /** Reads no more, and leaves the terminal's mode to who has it now. */
  rest(): void {
    this.#stdin.off('data', this.#listen).pause();
  }
}
