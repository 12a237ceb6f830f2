/** Measures kernels against each other: which one is fastest depends on the chip more than on the instruction set. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Puzzle } from '../../../chain/job.ts';
import { PAGES } from '../../../chain/nonce.ts';
import { KERNEL_NAMES, type KernelName } from '../kernel-names.ts';
import { type Kernel, ROW_COUNTERS } from './kernel.ts';
import { scan } from './scan.ts';

/** H/s of one thread, by kernel. */
export type Speeds = Readonly<Partial<Record<KernelName, number>>>;

/** Other threads that hash while this one measures: kernels are compared on a machine as busy as it will be. */
export interface Load {
  /** How many threads there are. */
  readonly count: number;
  /** Has all of them run this kernel, and starts a new count of rows. */
  run(name: KernelName): void;
  /** Ends the count. The threads run on. */
  endCount(): void;
  /** How many rows all of them searched from the last `run` until `endCount`. */
  rows(): number;
}

const NO_LOAD: Load = { count: 0, run: () => {}, endCount: () => {}, rows: () => 0 };

interface Conditions {
  readonly load?: Load;
  /** Ends the measurement: it throws the signal's reason. */
  readonly stop?: AbortSignal | undefined;
  /** A monotonic clock. */
  readonly nowMs?: () => number;
}

/** Untimed start of a turn: some chips change their clock for wide vectors, within 0.7 ms. */
const SETTLE_MS = 1;

/** Timed part of a turn: long against the clock and the set-up of a search (10 µs), short against other programs' turns. */
const TURN_MS = 2;

/** Turns of each kernel: V8 optimises WebAssembly and JavaScript, which start out several times slower, meanwhile. */
const FIRST_TURNS = 10;

/** Between rounds this thread rests: on a busy machine V8 compiles on the processor that it leaves free. */
const REST_MS = 3;

/** Turns of those kernels that may be the fastest. */
const FINAL_TURNS = 15;

/** A kernel slower than this part of the fastest one, after its first turns, is out of the race. Only good enough. */
const HOPELESS = 0.7;

/** Speeds closer than this are taken for the same: what is left of the machine's noise. */
const TIE = 0.01;

/** Pages of the first search, when nothing is known of a kernel: 20 µs with AVX-512, 1 ms in JavaScript. */
const FIRST_PAGES = 8;

/** A puzzle that no nonce solves, the usual case; what it hashes makes no difference. */
export const NOTHING_SOLVES: Puzzle = {
  midstate: new Uint32Array(8),
  tail: new Uint32Array(16),
  target: new Uint32Array(8),
};

/**
 * Kernels take turns, and each one's best turn counts: whatever else the machine does can only take from it. With twelve
 * kernels it takes 0.4 s, and 50 ms more for each one that may be the fastest.
 */
export async function measureSpeeds(kernels: readonly Kernel[], conditions: Conditions = {}): Promise<Speeds> {
  const { load = NO_LOAD, stop, nowMs = () => performance.now() } = conditions;
  const racers = kernels.map((kernel) => ({ kernel, hashesPerMs: 0 }));
  const race = async (turns: number, entrants: typeof racers) => {
    for (let turn = 0; turn < turns; turn++) {
      await sleep(REST_MS);
      stop?.throwIfAborted();
      for (const racer of entrants) {
        racer.hashesPerMs = Math.max(racer.hashesPerMs, takeTurn(racer, load, nowMs));
      }
    }
  };
  await race(FIRST_TURNS, racers);
  const best = Math.max(...racers.map(({ hashesPerMs }) => hashesPerMs));
  const finalists = racers.filter(({ hashesPerMs }) => hashesPerMs >= HOPELESS * best);
  if (finalists.length > 1) await race(FINAL_TURNS, finalists);
  return Object.fromEntries(racers.map(({ kernel, hashesPerMs }) => [kernel.name, Math.round(1000 * hashesPerMs)]));
}

interface Racer {
  readonly kernel: Kernel;
  /** The best of its threads' means so far: sizes its turns. */
  readonly hashesPerMs: number;
}

/** @returns hashes a millisecond of one thread: the mean of this one and the load threads */
function takeTurn({ kernel, hashesPerMs }: Racer, load: Load, nowMs: () => number): number {
  const search = (ms: number) => {
    const pages = Math.min(PAGES, Math.max(FIRST_PAGES, Math.round((hashesPerMs * ms) / ROW_COUNTERS)));
    const range = { lane: 0, page: 0, pages, counter: 0, counters: ROW_COUNTERS };
    return ROW_COUNTERS * scan(kernel, NOTHING_SOLVES, 1, range, Int32Array.of(1)).pages;
  };
  load.run(kernel.name);
  search(SETTLE_MS);
  // The load threads hash within the time that is measured, also while this thread is interrupted.
  const startMs = nowMs();
  load.run(kernel.name);
  const hashes = search(TURN_MS);
  load.endCount();
  // A clock too coarse to see the turn must not make a kernel infinitely fast.
  const ms = Math.max(nowMs() - startMs, 0.001);
  return (hashes + ROW_COUNTERS * load.rows()) / (ms * (1 + load.count));
}

/** The fastest kernel; among equals, the one that comes first in KERNEL_NAMES. */
export function fastestOf(speeds: Speeds): KernelName | undefined {
  const best = Math.max(...Object.values(speeds));
  return KERNEL_NAMES.find((name) => speeds[name] !== undefined && speeds[name] >= (1 - TIE) * best);
}
