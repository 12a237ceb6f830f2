/** A person who answers the questions of `pickaxe init` without a terminal, and what the questions are about. */

import type { Finding } from '#pickaxe/base/finding.js';
import { Questions } from '#pickaxe/cli/setup/init/questions.js';

export const [A, B] = ['http://a.example:1848', 'http://b.example:1848'];

export const found = (about: string, state: Finding['state'], what = 'so'): Finding => ({ about, state, what });

/** A person who gives these answers, one after the other; an empty text takes the default. */
export class Answering extends Questions {
  /** The questions with their defaults and answers, why answers are refused, and what is said. */
  readonly talk: readonly string[];
  readonly #note: (line: string) => void;
  readonly #answers: (string | boolean)[];

  constructor(...answers: (string | boolean)[]) {
    const talk: string[] = [];
    const output = { columns: 400, write: (text: string) => talk.push(...text.split('\n').filter(Boolean)) };
    super({ output } as never);
    this.talk = talk;
    this.#note = (line) => talk.push(line);
    this.#answers = answers;
  }

  override async input({ message, default: usual = '', validate }: Parameters<Questions['input']>[0]) {
    for (;;) {
      const typed = this.#next(`${message}${usual && ` (${usual})`}`) || usual;
      const verdict = (await validate?.(`${typed}`)) ?? true;
      if (verdict === true) return `${typed}`;
      this.#note(`! ${verdict}`);
    }
  }

  override password(question: Parameters<Questions['password']>[0]) {
    return this.input(question as never);
  }

  override async confirm(message: string) {
    return this.#next(message) === true;
  }

  override async select<const T>(message: string, choices: readonly { name: string; value: T }[]): Promise<T> {
    const at = this.#next(message);
    const chosen = choices.find(({ value }) => value === at);
    if (chosen === undefined) throw new Error(`${message}: ${choices.map(({ name }) => name).join('; ')}`);
    return chosen.value;
  }

  #next(question: string): string | boolean {
    const answer = this.#answers.shift();
    if (answer === undefined) throw new Error(`no answer to ${question}`);
    this.#note(`? ${question} > ${answer}`);
    return answer;
  }
}
