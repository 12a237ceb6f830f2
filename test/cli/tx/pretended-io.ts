/** What commands of `pickaxe tx` use from outside, in memory. */

import type { Io } from '#pickaxe/cli/tx/io.js';

export interface Pretended extends Io {
  stdout: string;
  stderr: string;
  /** What a person answers to every question; undefined: nobody is there. */
  answer: boolean | undefined;
  /** Questions so far. */
  readonly questions: string[];
}

const NEVER = new AbortController().signal;

/** @param given `now` is milliseconds since 1970 */
export function pretendedIo(given: { stdin?: string; now?: number; stop?: AbortSignal } = {}): Pretended {
  const { stdin = '', now = 0, stop = NEVER } = given;
  const io: Pretended = {
    stdout: '',
    stderr: '',
    answer: undefined,
    questions: [],
    out: (text) => {
      io.stdout += text;
    },
    say: (line) => {
      io.stderr += `${line}\n`;
    },
    read: () => Promise.resolve(new TextEncoder().encode(stdin)),
    confirm: (question) => {
      io.questions.push(question);
      return Promise.resolve(io.answer);
    },
    now: () => now,
    stop,
  };
  return io;
}
