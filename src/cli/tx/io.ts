/** What a command of `pickaxe tx` uses from outside, so that tests can call it without a process. */

import { confirm } from '../confirm.ts';
import { readStdin } from '../stdin.ts';

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
