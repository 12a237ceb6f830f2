/** Computes the prompt's answer to each typed line. It needs no terminal. */

import { oneLine, severalLines } from '../../base/text/plain-text.ts';
import type { TextResult } from '../../contract/repl/result.ts';
import { errorLines, failureLines, type Sources } from './failures/failure-lines.ts';
import { failuresOf, fileLines, hasFailed, summaryLine } from './report.ts';
import type { ContractSession } from './runs/run-file.ts';
import { isUnfinished } from './unfinished.ts';

/**
 * Maximum length of an input in UTF-16 code units. The longest public contract has 50,000. The limit bounds the time
 * for a line, because each further line of an unfinished input causes a check of the whole input.
 */
export const MAX_INPUT_LENGTH = 2 ** 17;

/** The name in place of a file's name in errors of typed code. */
const PROMPT_NAME = '<prompt>';

export const HELP = [
  '(+ 1 2)       runs code; an input goes on in the next line until its brackets are closed',
  ':load FILE    runs a file in the state of the prompt, and lists the expectations that failed',
  ':help         prints this',
  ':quit         ends, as Ctrl-D does',
  'Tab completes names, the arrow keys bring back what you typed, and Ctrl-C drops the input.',
  'docs/repl.md explains the functions for tests.',
];

/** The commands of the prompt, for completion. */
const PROMPT_COMMANDS = [':help', ':load', ':quit'];

/** Words that people type to get help or to end the prompt. As code, they are unknown names. */
const WORDS_FOR_COMMANDS: ReadonlySet<string> = new Set(['help', '?', 'exit', 'quit', '(help)', '(exit)', '(quit)']);

export class Conversation {
  readonly #session: ContractSession;
  readonly #nameFile: (path: string) => void;
  readonly #sources: Sources;
  /** The lines of an unfinished input; empty between two inputs. */
  #input = '';
  #hasEnded = false;

  /** @param nameFile allows the session to run a file; throws an Error with the reason if the file cannot be run */
  constructor(session: ContractSession, nameFile: (path: string) => void, sources: Omit<Sources, 'names'>) {
    this.#session = session;
    this.#nameFile = nameFile;
    this.#sources = { ...sources, names: () => session.names() };
  }

  /** Whether the next line continues an input. */
  get goesOn(): boolean {
    return this.#input !== '';
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** @returns the lines to print */
  take(line: string): readonly string[] {
    if (!this.goesOn && line.trim() === '') return [];
    if (!this.goesOn && line.trimStart().startsWith(':')) return this.#command(line.trim());
    const input = this.goesOn ? `${this.#input}\n${line}` : line;
    this.#input = '';
    if (input.length > MAX_INPUT_LENGTH) {
      const why = `The input was dropped: it has more than ${MAX_INPUT_LENGTH} characters. Put it into a file, and :load it.`;
      return [this.#red(why)];
    }
    if (!isUnfinished(input)) return this.#answer(input, this.#session.runText(input));
    this.#input = input;
    return [];
  }

  /** Drops an unfinished input. */
  drop(): void {
    this.#input = '';
  }

  /** @returns the names that begin with the last word of a line, and that word: the shape is that of `node:readline` */
  complete(line: string): [hits: string[], word: string] {
    const [word] = /[^\s()[\]{}"';,]*$/.exec(line) ?? [''];
    if (word === '') return [[], word];
    const isCommand = !this.goesOn && line.trimStart() === word && word.startsWith(':');
    const names = isCommand ? PROMPT_COMMANDS : this.#session.names();
    return [names.filter((name) => name.startsWith(word)).sort(), word];
  }

  #answer(input: string, result: TextResult): string[] {
    const { values, error } = result;
    if (error !== undefined && WORDS_FOR_COMMANDS.has(input.trim())) return ['Do you mean :help or :quit?'];
    const failed = failuresOf(result).map(({ text }) => text);
    // The value of a test shows the test's failure. The value of a form around a test may not show the failure, which
    // is then printed separately.
    const unseen = failed.filter((text) => !values.some((value) => value.includes(text)));
    return [
      ...values.map((value) => {
        const shown = severalLines(value);
        return failed.some((text) => value.includes(text)) ? this.#red(shown) : shown;
      }),
      ...unseen.map((text) => this.#red(severalLines(text))),
      ...(error === undefined ? [] : errorLines(error, PROMPT_NAME, this.#sources)),
    ];
  }

  #red(text: string): string {
    return this.#sources.paint('red', text);
  }

  #command(line: string): readonly string[] {
    const [, name, argument] = /^:(\S*)\s*(.*)$/s.exec(line) ?? [];
    if (name === 'load' && argument !== '') return this.#load(argument);
    if (name === 'load') return [':load needs the path of a file.'];
    if (name === 'help') return HELP;
    if (name !== 'quit') return [`There is no :${oneLine(name)}. :help lists what there is.`];
    this.#hasEnded = true;
    return [];
  }

  #load(path: string): readonly string[] {
    try {
      this.#nameFile(path);
    } catch (fault) {
      return [this.#red(oneLine((fault as Error).message))];
    }
    const result = this.#session.runFile(path);
    const end = [...fileLines(result, false, []), summaryLine([result])];
    if (!hasFailed(result)) return end;
    return [...failureLines(result, this.#sources), ...end.map((line) => this.#red(line))];
  }
}
