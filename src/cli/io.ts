/** The input and output of a command. Programs and tests replace them to run a command without starting a process. */

import type { Command } from 'commander';
import { UsageError } from '../app/process/exit.ts';
import { onSignals } from '../app/process/signals.ts';
import { type Clock, systemClock } from '../base/system/clock.ts';
import type { listGpus } from '../miner/engine/gpu/list-gpus.ts';

type ListGpus = typeof listGpus;

export interface Terminal {
  readonly input: NodeJS.ReadableStream;
  /** `columns` is its width, in characters; absent if that is not known. */
  readonly output: NodeJS.WritableStream & { readonly columns?: number };
}

export interface Io {
  /** Prints a result to stdout. */
  out(text: string): void;
  /** Prints a message for people and a newline to stderr. */
  say(line: string): void;
  /** Reads stdin to its end. @throws UsageError if stdin has more than `most` bytes */
  read(most: number): Promise<Uint8Array>;
  /**
   * Asks the person at the terminal a question whose answer is yes or no.
   * @param stop ends the question, even if the question is not on the screen yet
   * @returns undefined without a terminal
   * @throws an error for which `isEndOfQuestion` is true, when Ctrl-C or `stop` ends the question
   */
  confirm(question: string, stop?: AbortSignal): Promise<boolean | undefined>;
  /** Stdin and stdout; absent or undefined if one of them is no terminal, so that nobody can be asked there. */
  readonly terminal?: Terminal | undefined;
  /** Lists the GPUs. Default: those of this machine. */
  readonly listGpus?: ListGpus;
  /** Milliseconds since 1970, with a fraction. */
  now(): number;
  /** For commands that wait. Default: the clock of this machine. */
  readonly clock?: Clock;
  /** Fires when the user ends the command, for example with Ctrl-C. */
  readonly stop: AbortSignal;
  /** Width of the terminal, in characters; undefined if stdout is not a terminal, or the width is not known. */
  readonly columns: number | undefined;
  /** Height of the terminal, in lines; absent or undefined if stdout is not a terminal, or the height is not known. */
  readonly rows?: number | undefined;
  /** Whether to print lines about progress. In a process this is so if stderr is a terminal and stdout is not. */
  readonly showsProgress: boolean;
}

/** The exports of a command's module. */
export interface CommandModule {
  /** Adds the arguments, options and actions of the command. */
  declare(command: Command, line: Line): void;
}

export interface Line {
  readonly io: Io;
  /** @returns an action for commander. The exit code that `act` returns becomes the exit code of `run` */
  readonly action: (act: (...given: ActionArguments) => number | Promise<number>) => Action;
}

type Action = Parameters<Command['action']>[0];
/** Parameters of an action: the command's arguments, its options, and the command. Commander types them as `any`. */
type ActionArguments = Parameters<Action>;

export const clockOf = ({ clock = systemClock }: Io): Clock => clock;

/** @throws DeviceError `missing` when there is no GPU, or `lost` when two attempts have failed */
export async function gpusOf(io: Pick<Io, 'listGpus'>, options: Parameters<ListGpus>[0] = {}): ReturnType<ListGpus> {
  if (io.listGpus) return await io.listGpus(options);
  // A command that needs no GPU does not load the module.
  const module = await import('../miner/engine/gpu/list-gpus.ts');
  return await module.listGpus(options);
}

export function processIo(): Io {
  let stop: AbortSignal | undefined;
  return {
    out: (text) => process.stdout.write(text),
    say: (line) => process.stderr.write(`${line}\n`),
    read: readStdin,
    confirm,
    terminal:
      process.stdin.isTTY && process.stdout.isTTY ? { input: process.stdin, output: process.stdout } : undefined,
    now: () => performance.timeOrigin + performance.now(),
    // Signal handlers are added only when a command reads `stop`. Without them, a signal ends the process at once.
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

/**
 * @returns an AbortSignal that fires when a system signal asks the process to end. A second system signal ends the
 *   process at once
 */
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

/** @returns whether an error means that Ctrl-C, or the question's `stop`, ended a question of @inquirer/core */
export function isEndOfQuestion(fault: unknown): boolean {
  return fault instanceof Error && ['ExitPromptError', 'AbortPromptError'].includes(fault.name);
}
