/** The input and output of a command, so that programs and tests can run one without starting a process. */

import type { Command } from 'commander';
import { UsageError } from '../app/process/exit.ts';
import { onSignals } from '../app/process/signals.ts';

export interface Io {
  /** Prints a result to stdout. */
  out(text: string): void;
  /** Prints a message for people to stderr, and adds a newline. */
  say(line: string): void;
  /** Reads stdin to its end. @throws UsageError for more than `most` bytes */
  read(most: number): Promise<Uint8Array>;
  /**
   * Asks the person at the terminal.
   * @param stop ends the question, also one that is not on the screen yet
   * @returns undefined without a terminal
   * @throws an error for which `isEndOfQuestion` is true
   */
  confirm(question: string, stop?: AbortSignal): Promise<boolean | undefined>;
  /** Milliseconds since 1970, with a fraction. */
  now(): number;
  /** Fires when the person ends the command. */
  readonly stop: AbortSignal;
  /** Width of the terminal on which results are printed; undefined where they go elsewhere. */
  readonly columns: number | undefined;
  /** Height of the terminal; absent or undefined where it is not known, or stdout is not a terminal. */
  readonly rows?: number | undefined;
  /** Whether lines about progress help: stderr is a terminal, and stdout is not. */
  readonly showsProgress: boolean;
}

/** The exports of a command's file. */
export interface CommandModule {
  /** Adds the arguments, options and actions of the command. */
  declare(command: Command, line: Line): void;
}

export interface Line {
  readonly io: Io;
  /** @returns an action for commander. The exit code that `act` returns becomes that of `run` */
  readonly action: (act: (...given: ActionArguments) => number | Promise<number>) => Action;
}

type Action = Parameters<Command['action']>[0];
/** The command's arguments, its options, and the command. Commander does not know their types. */
type ActionArguments = Parameters<Action>;

export function processIo(): Io {
  let stop: AbortSignal | undefined;
  return {
    out: (text) => process.stdout.write(text),
    say: (line) => process.stderr.write(`${line}\n`),
    read: readStdin,
    confirm,
    now: () => performance.timeOrigin + performance.now(),
    // Handlers of signals are added only when a command reads `stop`. Otherwise a signal ends the process at once.
    get stop() {
      stop ??= firstSignal();
      return stop;
    },
    get columns() {
      return process.stdout.isTTY ? process.stdout.columns || undefined : undefined;
    },
    get rows() {
      return process.stdout.isTTY ? process.stdout.rows || undefined : undefined;
    },
    showsProgress: process.stderr.isTTY === true && !process.stdout.isTTY,
  };
}

/** @returns a signal that fires at the first system signal that ends commands. A second one ends the process */
function firstSignal(): AbortSignal {
  const stop = new AbortController();
  onSignals(() => stop.abort());
  return stop.signal;
}

async function readStdin(most: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of process.stdin) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > most) throw new UsageError(`standard input has more than ${most} bytes.`);
  }
  return Buffer.concat(chunks);
}

async function confirm(question: string, stop?: AbortSignal): Promise<boolean | undefined> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined;
  const { confirm } = await import('@inquirer/prompts');
  return confirm({ message: question, default: false }, { output: process.stderr, ...(stop && { signal: stop }) });
}

/** Whether @inquirer/core threw this at Ctrl-C or at the question's `stop`. */
export function isEndOfQuestion(fault: unknown): boolean {
  return fault instanceof Error && ['ExitPromptError', 'AbortPromptError'].includes(fault.name);
}
