/** Asks a person questions at a terminal, and prints what the person should know for the answers. */

import { checkbox, confirm, input, password, select } from '@inquirer/prompts';
import { type Finding, findingLines } from '../../../base/finding.ts';
import type { Terminal } from '../../io.ts';

interface Choice<T> {
  readonly name: string;
  readonly value: T;
}

const INDENT = '  ';
/** Assumed width of a terminal that does not report one. */
const USUAL_COLUMNS = 80;

export class Questions {
  readonly #terminal: Terminal;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  /** Asks for a line of text. */
  input(question: Parameters<typeof input>[0]): Promise<string> {
    return input(question, this.#terminal);
  }

  /** Asks for a text that is not shown. */
  password(question: Parameters<typeof password>[0]): Promise<string> {
    return password(question, this.#terminal);
  }

  /** Asks a question whose answer is yes or no. Without an answer it is no. */
  confirm(message: string): Promise<boolean> {
    return confirm({ message, default: false }, this.#terminal);
  }

  /** Asks for one of the choices. @param choices each may have a shorter name, to be shown once it is chosen */
  select<const T>(message: string, choices: readonly (Choice<T> & { readonly short?: string })[]): Promise<T> {
    return select({ message, choices }, this.#terminal);
  }

  /** Asks for at least one of the choices. At first all are chosen. */
  selectSome<T>(message: string, choices: readonly Choice<T>[]): Promise<T[]> {
    const checked = choices.map((choice) => ({ ...choice, checked: true }));
    return checkbox({ message, required: true, choices: checked }, this.#terminal);
  }

  say(...lines: readonly string[]): void {
    this.#terminal.output.write(lines.map((line) => `${INDENT}${line}\n`).join(''));
  }

  sayFindings(findings: readonly Finding[]): void {
    this.say(...findingLines(findings, (this.#terminal.output.columns || USUAL_COLUMNS) - INDENT.length));
  }
}
