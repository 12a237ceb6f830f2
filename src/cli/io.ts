/** What a command line uses from outside, so that programs and tests can run one without starting a process. */

import type { Command } from 'commander';
import { UsageError } from '../app/exit.ts';

export interface Io {
  /** Prints a result: to stdout. */
  out(text: string): void;
  /** Tells a person something beside the result: to stderr, with a newline at its end. */
  say(line: string): void;
  /** Reads stdin to its end. @throws UsageError for more than `most` bytes. */
  read(most: number): Promise<Uint8Array>;
  /**
   * Asks a person, where there is one at a terminal.
   * @param stop ends the question, also one that is not on the screen yet
   * @returns undefined where nobody can be asked
   * @throws an error for which `isEndOfQuestion` is true, when the person ends the question
   */
  confirm(question: string, stop?: AbortSignal): Promise<boolean | undefined>;
  /** Milliseconds since 1970, with a fraction. */
  now(): number;
  /** Fires when the person ends the command. */
  readonly stop: AbortSignal;
  /** The width of the terminal on which results are printed; undefined where they go elsewhere. */
  readonly columns: number | undefined;
  /** Whether lines about progress help: a person reads stderr, and results go elsewhere. */
  readonly showsProgress: boolean;
}

/** What a command's file exports. */
export interface CommandModule {
  /** Adds the arguments, options and actions of the command. */
  declare(command: Command, line: Line): void;
}

/** The line that is run, for the declarations of commands. */
export interface Line {
  readonly io: Io;
  /** @returns an action for commander, whose exit code becomes that of the line */
  readonly action: (act: (...given: ActionArguments) => number | Promise<number>) => Action;
}

type Action = Parameters<Command['action']>[0];
/** The command's arguments, its options, and the command: commander does not know their types. */
type ActionArguments = Parameters<Action>;

/** @returns what belongs to this process */
export function processIo(): Io {
  let stop: AbortSignal | undefined;
  return {
    out: (text) => process.stdout.write(text),
    say: (line) => process.stderr.write(`${line}\n`),
    read: readStdin,
    confirm,
    now: () => performance.timeOrigin + performance.now(),
    // Until something can be stopped, a signal ends the process at once.
    get stop() {
      stop ??= firstSignal();
      return stop;
    },
    get columns() {
      return process.stdout.isTTY ? process.stdout.columns || undefined : undefined;
    },
    showsProgress: process.stderr.isTTY === true && !process.stdout.isTTY,
  };
}

/** @returns a signal that fires with the first signal of the system; the second one ends the process */
function firstSignal(): AbortSignal {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => stop.abort());
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

/** Whether a question was ended by Ctrl-C: what @inquirer/core throws then. */
export function isEndOfQuestion(fault: unknown): boolean {
  return fault instanceof Error && ['ExitPromptError', 'AbortPromptError'].includes(fault.name);
}
