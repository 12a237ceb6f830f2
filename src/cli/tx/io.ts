/** What a command of `pickaxe tx` uses from outside, so that tests can call it without a process. */

import { EXIT, UsageError } from '../../app/exit.ts';
import { LedgerFormatError } from '../../ledger/json.ts';
import { RequestFileError } from '../../ledger/request-file/yaml.ts';
import { oneLine } from '../../text/plain-text.ts';
import { confirm, isEndOfQuestion, readStdin } from '../questions.ts';

export interface Io {
  /** Prints a result: to stdout. */
  out(text: string): void;
  /** Tells a person something beside the result: to stderr, with a newline at its end. */
  say(line: string): void;
  /** Reads stdin to its end. @throws UsageError for more than `most` bytes. */
  read(most: number): Promise<Uint8Array>;
  /** Asks a person, where there is one at a terminal. @returns undefined where nobody can be asked */
  confirm(question: string): Promise<boolean | undefined>;
  /** Milliseconds since 1970, with a fraction. */
  now(): number;
  /** Fires when the person ends the command. */
  readonly stop: AbortSignal;
}

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
  };
}

/** @returns a signal that fires with the first signal of the system; the second one ends the process */
function firstSignal(): AbortSignal {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => stop.abort());
  return stop.signal;
}

/* Turns what commands of `pickaxe tx` throw about files and arguments into words that are safe to print. */

/**
 * @returns the command's exit code: interrupted after Ctrl-C at a question
 * @throws UsageError for files and arguments that cannot be used, and all other errors as they are.
 */
export async function withWords(command: () => Promise<number> | number): Promise<number> {
  try {
    return await command();
  } catch (fault) {
    if (fault instanceof RequestFileError) throw new UsageError(oneLine(fault.message));
    if (fault instanceof LedgerFormatError) throw new UsageError(oneLine(`${fault.message}.`));
    if (isEndOfQuestion(fault)) return EXIT.interrupted;
    throw fault;
  }
}

/* A line of a table with two columns: a name and a text. */

const NAME_COLUMNS = 10;

export function row(name: string, text: string): string {
  return `${name.padEnd(NAME_COLUMNS)} ${text}`.trimEnd();
}
