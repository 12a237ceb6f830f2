/** Compares the kernels' speeds. Which kernel is fastest depends more on the chip than on the instruction set. */

import { setTimeout as sleep } from 'node:timers/promises';
import { NOTHING_SOLVES } from '../../../chain/job.ts';
import { PAGES } from '../../../chain/nonce.ts';
import { KERNEL_NAMES, type KernelName } from '../kernel-names.ts';
import { type Kernel, ROW_COUNTERS } from './kernel.ts';
import { scan } from './scan.ts';

/** H/s of one thread, by kernel. */
export type Speeds = Readonly<Partial<Record<KernelName, number>>>;

/** Threads that hash while this one measures, so that kernels are compared on a machine as busy as it will be when mining. */
export interface Load {
  /** How many threads there are. */
  readonly count: number;
  /** Makes all threads run this kernel, and starts a new count of rows. */
  run(name: KernelName): void;
  /** Ends the count. The threads go on running. */
  endCount(): void;
  /** @returns how many rows all threads searched from the last `run` until `endCount` */
  rows(): number;
}

const NO_LOAD: Load = { count: 0, run: () => {}, endCount: () => {}, rows: () => 0 };

interface Conditions {
  readonly load?: Load;
  /** Ends the measurement, which then throws the signal's reason. */
  readonly stop?: AbortSignal | undefined;
  /** A monotonic clock. */
  readonly nowMs?: () => number;
}

/** Length of a turn's untimed start: some chips change their clock for wide vectors, which takes up to 0.7 ms. */
const SETTLE_MS = 1;

/**
 * Length of a turn's timed part: long compared with the setup of a search (10 µs), short compared with the time slices of
 * other programs.
 */
const TURN_MS = 2;

/** How many turns each kernel gets. In this time V8 optimizes WebAssembly and JavaScript, which are much slower at first. */
const FIRST_TURNS = 10;

/** This thread sleeps between rounds, so that on a busy machine V8 gets processor time to compile. */
const REST_MS = 3;

/** How many further turns the kernels get that may be the fastest. */
const FINAL_TURNS = 15;

/** After the first turns, kernels slower than this fraction of the fastest one get no more. The exact value does not matter. */
const HOPELESS = 0.7;

/** Speeds whose difference is below this fraction count as equal, because measurements vary by as much. */
const TIE = 0.01;

/** Pages of a kernel's first search, while its speed is unknown: 20 µs with AVX-512, 1 ms in JavaScript. */
const FIRST_PAGES = 8;

/**
 * Measures kernels in turns. A kernel's best turn counts, because other programs can only slow a turn down. With twelve
 * kernels this takes 0.4 s, and 50 ms more for each kernel that may be the fastest.
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
  /** The best result so far, as in `takeTurn`; 0 before the first. The lengths of turns are computed from it. */
  readonly hashesPerMs: number;
}

/** @returns hashes per millisecond and thread: the mean of this thread and the load threads */
function takeTurn({ kernel, hashesPerMs }: Racer, load: Load, nowMs: () => number): number {
  const search = (ms: number) => {
    const pages = Math.min(PAGES, Math.max(FIRST_PAGES, Math.round((hashesPerMs * ms) / ROW_COUNTERS)));
    const range = { lane: 0, page: 0, pages, counter: 0, counters: ROW_COUNTERS };
    return ROW_COUNTERS * scan(kernel, NOTHING_SOLVES, 1, range, Int32Array.of(1)).pages;
  };
  load.run(kernel.name);
  search(SETTLE_MS);
  // The rows of the load threads are counted over the measured time, even while this thread is interrupted.
  const startMs = nowMs();
  load.run(kernel.name);
  const hashes = search(TURN_MS);
  load.endCount();
  // A clock that is too coarse for the turn must not make a kernel look infinitely fast.
  const ms = Math.max(nowMs() - startMs, 0.001);
  return (hashes + ROW_COUNTERS * load.rows()) / (ms * (1 + load.count));
}

/** @returns the fastest kernel; among equally fast ones, the first in KERNEL_NAMES; undefined when there are none */
export function fastestOf(speeds: Speeds): KernelName | undefined {
  const best = Math.max(...Object.values(speeds));
  return KERNEL_NAMES.find((name) => speeds[name] !== undefined && speeds[name] >= (1 - TIE) * best);
}
