/** What `pickaxe sweep` uses from outside, so that tests can call it without a process. */

import { type Clock, systemClock } from '../../system/clock.ts';
import { userStateDirectory } from '../../system/user-directories.ts';
import { confirm } from '../confirm.ts';

export interface SweepIo {
  /** Prints to stdout. */
  out(text: string): void;
  /** Tells a person something beside the result: to stderr, with a newline at its end. */
  say(line: string): void;
  /** As in confirm.ts. */
  readonly confirm: typeof confirm;
  /** Where the state is kept; undefined for a user without a home directory. */
  readonly stateDirectory: string | undefined;
  readonly clock: Clock;
  /** The pause between two turns of the transfers. */
  readonly pauseMs: number;
  /** How many blocks must be above a block before the sweep relies on it. By default the runner decides. */
  readonly confirmations?: number;
  /** Fires when the person ends the command. */
  readonly stop: AbortSignal;
}

/** A chain has a block every 30 s. */
const PAUSE_MS = 10_000;

/** @returns what belongs to this process. The first signal of the system fires `stop`; the second one ends the process */
export function processIo(): SweepIo {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => stop.abort());
  return {
    out: (text) => process.stdout.write(text),
    say: (line) => process.stderr.write(`${line}\n`),
    confirm,
    stateDirectory: userStateDirectory(),
    clock: systemClock,
    pauseMs: PAUSE_MS,
    stop: stop.signal,
  };
}
