/** In-memory replacements of what commands use from outside. */

import { NEVER } from '#pickaxe/base/system/abort.js';
import { type Clock, systemClock } from '#pickaxe/base/system/clock.js';
import type { SweepIo } from '#pickaxe/cli/coins/sweep/coin-session.js';
import type { Io, Terminal } from '#pickaxe/cli/io.js';
import { DeviceError } from '#pickaxe/miner/engine/engine.js';
import type { Gpu } from '#pickaxe/miner/engine/gpu/list-gpus.js';
import type { World } from '../node/sweep/world.ts';

/** What a command has printed so far. A test may empty both texts. */
export interface Printed {
  stdout: string;
  stderr: string;
}

export interface Pretended extends Io, Printed {
  /** A person's answer to every question; undefined if nobody can be asked. */
  answer: boolean | undefined;
  /** Questions so far. */
  readonly questions: string[];
}

/** What a command finds outside: by default nothing on stdin, no terminal and no GPU. */
export interface Given {
  readonly stdin?: string;
  /** Milliseconds since 1970. */
  readonly now?: number;
  readonly clock?: Clock;
  readonly stop?: AbortSignal;
  /** Gets what is printed, at once. */
  readonly printed?: Printed;
  readonly terminal?: Terminal;
  /** Whether somebody waits for the command. Default: false. */
  readonly showsProgress?: boolean;
  /** Width of the terminal. By default, stdout is no terminal. */
  readonly columns?: number;
  /** The GPUs of the machine, or why there are none. */
  readonly gpus?: readonly Gpu[] | Error;
  /** Gets what the command asks about the GPUs. */
  readonly askedGpus?: unknown[];
}

export function pretendedIo(given: Given = {}): Pretended {
  const { stdin = '', now = 0, stop = NEVER, gpus = new DeviceError('missing', 'no adapter found') } = given;
  const io: Pretended = {
    stdout: '',
    stderr: '',
    answer: undefined,
    questions: [],
    out: (text) => {
      io.stdout += text;
      if (given.printed) given.printed.stdout += text;
    },
    say: (line) => {
      if (given.printed) given.printed.stderr += `${line}\n`;
      io.stderr += `${line}\n`;
    },
    read: () => Promise.resolve(new TextEncoder().encode(stdin)),
    confirm: (question) => {
      io.questions.push(question);
      return Promise.resolve(io.answer);
    },
    terminal: given.terminal,
    listGpus: async (options) => {
      given.askedGpus?.push(options);
      if (gpus instanceof Error) throw gpus;
      return [...gpus];
    },
    now: () => now,
    clock: given.clock ?? systemClock,
    stop,
    columns: given.columns,
    rows: undefined,
    showsProgress: given.showsProgress ?? false,
  };
  return io;
}

/**
 * For commands that move coins, with nobody to ask. The chains grow whenever the command prints a message.
 * @param printed gets what the command prints
 */
export function sweepIo(world: World, stateDirectory: string, printed: Printed): SweepIo {
  return {
    out: (text) => {
      printed.stdout += text;
    },
    say: (line) => {
      printed.stderr += `${line}\n`;
      world.grow();
    },
    confirm: async () => undefined,
    stateDirectory,
    clock: systemClock,
    pauseMs: 1,
    confirmations: 1,
    stop: NEVER,
  };
}
