/** A person at a terminal in memory, who answers the questions of a command. */

import { EventEmitter, once } from 'node:events';
import { PassThrough, Writable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { onTestFinished } from 'vitest';
import type { Terminal } from '#pickaxe/cli/io.js';
import { PATIENCE } from '../patience.ts';
import { type Ended, pickaxeIn } from './in-process.ts';
import type { Given } from './pretended-io.ts';

const DOWN = '\u001b[B';
const ENTER = '\r';
/** The keys Ctrl-C, and Ctrl-U. */
const INTERRUPT = '\u0003';
const CLEAR_LINE = '\u0015';

/** A part of a pattern that matches the mark in front of an answered question. */
const DONE = '[✔√] ';

export class Person {
  /** Settles when the command has ended. Its `stdout` and `stderr` have what it did not print to the terminal. */
  readonly ended: Promise<Ended>;
  readonly #input = new PassThrough();
  readonly #output: Screen;
  /** Where that begins which the person has not read yet. */
  #read = 0;
  #hasEnded = false;

  /** Runs a command line in a folder, which is also the user's. */
  constructor(folder: string, args: readonly string[], { columns = 120, ...given }: Given & { columns?: number } = {}) {
    this.#output = new Screen(columns);
    const terminal: Terminal = { input: this.#input, output: this.#output };
    // The library of the questions reads TERM.
    const env = { TERM: 'xterm-256color', XDG_CONFIG_HOME: folder };
    this.ended = pickaxeIn(folder, args, env, { ...given, terminal }).finally(() => {
      this.#hasEnded = true;
      this.#output.written.emit('text');
    });
    // A test may fail before it waits for the end.
    onTestFinished(async () => {
      this.#input.write(INTERRUPT);
      await this.ended.catch(() => {});
    });
  }

  /** Everything that was shown, without the codes that move the cursor. */
  get text(): string {
    return this.#output.text;
  }

  /** For messages of errors. */
  get #last(): string {
    return this.text.slice(-2_000);
  }

  /** @param pattern what the person waits for, in the text that was not read yet */
  async sees(pattern: RegExp | string): Promise<void> {
    const regexp = typeof pattern === 'string' ? new RegExp(escaped(pattern)) : pattern;
    const signal = AbortSignal.timeout(PATIENCE.timeout);
    for (;;) {
      const found = regexp.exec(this.text.slice(this.#read));
      if (found) {
        this.#read += found.index + found[0].length;
        return;
      }
      if (this.#hasEnded) throw new Error(`the command ended before ${pattern} was shown:\n${this.#last}`);
      await once(this.#output.written, 'text', { signal }).catch((cause) => {
        throw new Error(`${pattern} was not shown:\n${this.#last}`, { cause });
      });
    }
  }

  /**
   * Waits for a question, types an answer, and waits until the command has taken it.
   * @param question its beginning, perhaps with its default in parentheses
   */
  async answers(question: string, typed = ''): Promise<void> {
    await this.sees(`? ${question}`);
    this.#input.write(typed + ENTER);
    await this.sees(new RegExp(DONE + escaped(question.replace(/ \(.*/, ''))));
  }

  /** Chooses an item of a list. @param index 0 for the first */
  async chooses(question: string, index: number): Promise<void> {
    await this.answers(question, DOWN.repeat(index));
  }

  /** Types an answer that is refused, and removes it. */
  async isRefused(question: string, typed: string, why: string): Promise<void> {
    await this.sees(`? ${question}`);
    this.#input.write(typed + ENTER);
    await this.sees(why);
    this.#input.write(CLEAR_LINE);
  }

  /** Types without waiting. */
  types(keys: string): void {
    this.#input.write(keys);
  }
}

class Screen extends Writable {
  readonly written = new EventEmitter();
  readonly columns: number;
  #raw = '';

  constructor(columns: number) {
    super({ decodeStrings: false });
    this.columns = columns;
  }

  get text(): string {
    return stripVTControlCharacters(this.#raw);
  }

  override _write(chunk: string | Buffer, _encoding: string, done: () => void): void {
    this.#raw += chunk;
    this.written.emit('text');
    done();
  }

  /** Each question ends the stream, but a terminal stays open. */
  override end(): this {
    return this;
  }
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
