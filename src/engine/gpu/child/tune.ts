/** Measures variants of the kernel and lengths of a dispatch, since chips and compilers differ in both. */

import { type Puzzle, puzzleOf } from '../../../chain/job.ts';
import { HEADER_BYTES, TARGET_BYTES } from '../../../chain/layout.ts';
import { COUNTERS, type Range } from '../../../chain/nonce.ts';
import type { BatchRow, TuningLimits } from '../tuning.ts';
import type { Variant } from '../variants.ts';
import { DispatchForecast } from './dispatch-forecast.ts';
import { expectIn } from './polling.ts';
import { type Scanner, SLOTS } from './scanner.ts';

/** Long against the overhead of a dispatch, short against patience. */
const DISPATCH_MS = 8;
const FIRST_TURNS = 3;
const FINAL_TURNS = 6;
/** A variant slower than this part of the fastest one, after its first turns, is out of the race. Only good enough. */
const HOPELESS = 0.93;

/**
 * Lengths of a dispatch to choose from, in milliseconds. There is no 1: ends are seen up to a millisecond late, so such a
 * dispatch would seem too long, be made smaller, and still seem too long.
 */
const BATCHES_MS = [2, 4, 8, 16, 32];
const BATCH_TURNS = 3;
/**
 * Dispatches that a New Cut costs: half of the one that runs and all of the one behind it. The other half stands for
 * solutions: they are reported half a dispatch late on average, which can lose them.
 */
const LOST_BATCHES = 2;
/** Time between blocks of a chain, as this ledger aims for. */
const BLOCK_MS = 30_000;
/**
 * Part of a processor's core that the child may take while it is measured: half of the aim for mining, since a dispatch
 * was seen to cost twice as much later, where other programs use the same caches.
 */
const MOST_BUSY = 0.025;
/** Scores closer than this are taken for the same, since the machine's noise is as large. The shorter batch wins. */
const TIE = 0.003;

/** A puzzle that no nonce solves, the usual case. */
const NOTHING_SOLVES: Puzzle = puzzleOf(new Uint8Array(HEADER_BYTES), new Uint8Array(TARGET_BYTES));

/**
 * @param trying called before each turn
 * @returns the rates of all, fastest first
 */
export async function raceVariants(
  scanners: readonly Scanner[],
  { warmUpMs, turnMs }: TuningLimits,
  trying: (variant: Variant) => void,
): Promise<{ readonly scanner: Scanner; readonly hashesPerSecond: number }[]> {
  const racers = scanners.map((scanner) => ({ scanner, perMs: 0 }));
  const race = async (turns: number, entrants: typeof racers) => {
    // They take turns, so that a rising clock or a busy machine affects all of them alike.
    for (let turn = 0; turn < turns; turn++) {
      for (const racer of entrants) {
        trying(racer.scanner.variant);
        const batch = { batchMs: DISPATCH_MS, perMs: racer.perMs, turnMs };
        racer.perMs = Math.max(racer.perMs, await pipelinedPerMs(racer.scanner, batch));
      }
    }
  };
  for (const racer of racers) {
    trying(racer.scanner.variant);
    racer.perMs = await warmUp(racer.scanner);
  }
  const warmMs = performance.now() + (racers.length > 1 ? warmUpMs : 0);
  while (performance.now() < warmMs) await race(1, racers.slice(0, 1));
  await race(FIRST_TURNS, racers);
  const best = Math.max(...racers.map(({ perMs }) => perMs));
  await race(
    FINAL_TURNS,
    racers.filter(({ perMs }) => perMs >= HOPELESS * best),
  );
  return racers
    .map(({ scanner, perMs }) => ({ scanner, hashesPerSecond: Math.round(perMs * 1000) }))
    .sort((a, b) => b.hashesPerSecond - a.hashesPerSecond);
}

/**
 * Mines with dispatches of different lengths, two in flight as when mining.
 * @param hashesPerSecond as `raceVariants` found it
 */
export async function raceBatches(
  scanner: Scanner,
  hashesPerSecond: number,
  { batchTurnMs }: TuningLimits,
): Promise<BatchRow[]> {
  const racers = BATCHES_MS.map((batchMs) => ({ batchMs, perMs: 0, busyMs: 0, turnMs: 0 }));
  const perMs = hashesPerSecond / 1000;
  for (let turn = 0; turn < BATCH_TURNS; turn++) {
    for (const racer of racers) {
      const { batchMs } = racer;
      const before = performance.eventLoopUtilization();
      racer.perMs = Math.max(racer.perMs, await pipelinedPerMs(scanner, { batchMs, perMs, turnMs: batchTurnMs }));
      const { active, idle } = performance.eventLoopUtilization(before);
      racer.busyMs += active;
      racer.turnMs += active + idle;
    }
  }
  return racers.map(({ batchMs, perMs, busyMs, turnMs }) => ({
    batchMs,
    hashesPerSecond: Math.round(perMs * 1000),
    score: Math.round(perMs * 1000 * (1 - (LOST_BATCHES * batchMs) / BLOCK_MS)),
    busy: busyMs / turnMs,
  }));
}

/** The shortest batch of the best score, among those that leave the processor mostly idle. */
export function bestBatch(rows: readonly BatchRow[]): BatchRow {
  const calm = Math.max(MOST_BUSY, Math.min(...rows.map(({ busy }) => busy)));
  const eligible = rows.filter(({ busy }) => busy <= calm);
  const best = Math.max(...eligible.map(({ score }) => score));
  return eligible.filter(({ score }) => score >= (1 - TIE) * best).sort((a, b) => a.batchMs - b.batchMs)[0];
}

/** Doubles the dispatch until it takes long enough to be measured. @returns counters a millisecond */
async function warmUp(scanner: Scanner): Promise<number> {
  for (let counters = scanner.unit; ; counters *= 2) {
    const startMs = performance.now();
    await scanner.scan(NOTHING_SOLVES, stripOf(0, counters));
    const ms = performance.now() - startMs;
    if (ms >= DISPATCH_MS / 2 || 2 * counters > scanner.most) return counters / Math.max(ms, 0.001);
  }
}

interface Batch {
  readonly batchMs: number;
  /** Counters a millisecond, as far as is known. */
  readonly perMs: number;
  /** How long to go on. */
  readonly turnMs: number;
}

/** Dispatches of one length, two in flight as when mining. @returns counters a millisecond */
async function pipelinedPerMs(scanner: Scanner, { batchMs, perMs, turnMs }: Batch): Promise<number> {
  const units = Math.max(1, Math.floor((perMs * batchMs) / scanner.unit));
  const counters = Math.min(units * scanner.unit, scanner.most);
  const startMs = performance.now();
  const endMs = startMs + turnMs;
  const forecast = new DispatchForecast();
  let done = 0;
  let strips = 0;
  await Promise.all(
    Array.from({ length: SLOTS }, async () => {
      while (performance.now() < endMs) {
        const range = stripOf((strips++ * counters) % (COUNTERS - counters), counters);
        forecast.submitted(performance.now(), batchMs);
        const scan = scanner.scan(NOTHING_SOLVES, range);
        if (forecast.next) expectIn(forecast.next.dueMs - performance.now(), batchMs);
        await scan;
        forecast.done(performance.now());
        done += counters;
      }
    }),
  );
  return done / (performance.now() - startMs);
}

function stripOf(counter: number, counters: number): Range {
  return { lane: 0, page: 0, pages: 1, counter, counters };
}
