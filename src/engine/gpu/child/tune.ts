/** Which form of the kernel, and dispatches of what length: measured, since chips and compilers differ in both. */

import type { Search } from '../../../chain/job.ts';
import { searchOf } from '../../../chain/job.ts';
import { HEADER_BYTES, TARGET_BYTES } from '../../../chain/layout.ts';
import { COUNTERS, type Range } from '../../../chain/nonce.ts';
import type { BatchRow } from '../tuning.ts';
import { expectIn } from './polling.ts';
import { type Scanner, SLOTS } from './scanner.ts';
import { Sizing } from './sizing.ts';

/** Long against the overhead of a dispatch, short against patience. */
const DISPATCH_MS = 10;
/** Dispatches of each form; their best counts, since whatever else the machine does can only take from it. */
const FIRST_TURNS = 3;
const FINAL_TURNS = 8;
/** A GPU that was idle takes this long to raise its clocks. */
const WARM_UP_MS = 500;
/** A form slower than this part of the fastest one, after its first turns, is out of the race. Only good enough. */
const HOPELESS = 0.93;

/** Lengths of a dispatch to choose from, in milliseconds. */
const BATCHES_MS = [1, 2, 4, 8, 16];
/** How long each is tried, in each of its turns. */
const BATCH_TURN_MS = 120;
const BATCH_TURNS = 3;
/**
 * Dispatches whose work a New Cut makes worthless: half of the one that runs and all of the one behind it, and a block
 * that is found is told of half a dispatch later on average, which can lose it as well.
 */
const LOST_BATCHES = 2;
/** Between blocks of a chain, as this ledger aims for. */
const BLOCK_MS = 30_000;
/** Scores closer than this are taken for the same: what is left of the machine's noise. The shorter batch wins. */
const TIE = 0.003;

/** A search that nothing solves, the usual case. */
const NOTHING_SOLVES: Search = searchOf(new Uint8Array(HEADER_BYTES), new Uint8Array(TARGET_BYTES));

/**
 * @param progress told the part that is done, 0 to 1
 * @returns the rates of all, fastest first
 */
export async function raceVariants(
  scanners: readonly Scanner[],
  progress: (done: number) => void = () => {},
): Promise<{ readonly scanner: Scanner; readonly hashesPerSecond: number }[]> {
  const racers = scanners.map((scanner) => ({ scanner, sizing: sizingOf(scanner, DISPATCH_MS), perMs: 0 }));
  let turnsDone = 0;
  const race = async (turns: number, entrants: typeof racers) => {
    // In turns, so that a clock that rises or a busy machine meets all alike.
    for (let turn = 0; turn < turns; turn++) {
      progress(turnsDone++ / (FIRST_TURNS + FINAL_TURNS));
      for (const racer of entrants) {
        const counters = racer.sizing.size;
        racer.perMs = Math.max(racer.perMs, counters / (await timeMs(racer.scanner, counters)));
      }
    }
  };
  for (const { scanner, sizing } of racers) await warmUp(scanner, sizing);
  const warmMs = performance.now() + (racers.length > 1 ? WARM_UP_MS : 0);
  while (performance.now() < warmMs) await timeMs(racers[0].scanner, racers[0].sizing.size);
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
 * Mines with dispatches of different lengths, two in flight as in earnest.
 * @param hashesPerSecond as `raceVariants` found it
 */
export async function raceBatches(scanner: Scanner, hashesPerSecond: number): Promise<BatchRow[]> {
  const racers = BATCHES_MS.map((batchMs) => ({ batchMs, perMs: 0 }));
  for (let turn = 0; turn < BATCH_TURNS; turn++) {
    for (const racer of racers) {
      racer.perMs = Math.max(racer.perMs, await pipelinedPerMs(scanner, racer.batchMs, hashesPerSecond / 1000));
    }
  }
  return racers.map(({ batchMs, perMs }) => ({
    batchMs,
    hashesPerSecond: Math.round(perMs * 1000),
    score: Math.round(perMs * 1000 * (1 - (LOST_BATCHES * batchMs) / BLOCK_MS)),
  }));
}

/** The shortest batch among those of the best score. */
export function bestBatch(rows: readonly BatchRow[]): BatchRow {
  const best = Math.max(...rows.map(({ score }) => score));
  return rows.filter(({ score }) => score >= (1 - TIE) * best).sort((a, b) => a.batchMs - b.batchMs)[0];
}

const sizingOf = ({ unit, most }: Scanner, goalMs: number) => new Sizing({ goalMs, unit, most, first: unit });

/** Doubles the dispatch until it takes long enough to be measured. */
async function warmUp(scanner: Scanner, sizing: Sizing): Promise<void> {
  for (let ms = 0; ms < DISPATCH_MS / 2 && sizing.size < scanner.most; ) {
    const counters = sizing.size;
    ms = await timeMs(scanner, counters);
    sizing.observe(counters, ms);
  }
}

async function timeMs(scanner: Scanner, counters: number): Promise<number> {
  const startMs = performance.now();
  await scanner.scan(NOTHING_SOLVES, stripOf(0, counters));
  return performance.now() - startMs;
}

/** @returns counters a millisecond */
async function pipelinedPerMs(scanner: Scanner, batchMs: number, perMs: number): Promise<number> {
  const units = Math.max(1, Math.floor((perMs * batchMs) / scanner.unit));
  const counters = Math.min(units * scanner.unit, scanner.most);
  const startMs = performance.now();
  const endMs = startMs + BATCH_TURN_MS;
  let done = 0;
  let next = 0;
  await Promise.all(
    Array.from({ length: SLOTS }, async () => {
      while (performance.now() < endMs) {
        const range = stripOf((next++ * counters) % (COUNTERS - counters), counters);
        const scan = scanner.scan(NOTHING_SOLVES, range);
        expectIn(batchMs, batchMs);
        await scan;
        done += counters;
      }
    }),
  );
  return done / (performance.now() - startMs);
}

function stripOf(counter: number, counters: number): Range {
  return { lane: 0, page: 0, pages: 1, counter, counters };
}
