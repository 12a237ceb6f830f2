/**
 * Measures variants of the kernel and lengths of batches. The chip and the driver's compiler decide which variant and
 * which length are the best.
 */

import { NOTHING_SOLVES } from '../../../../protocol/chain/job.ts';
import { COUNTERS, type Range } from '../../../../protocol/chain/nonce.ts';
import type { BatchRow, TuningLimits, Variant } from '../tuning.ts';
import { DispatchForecast, expectIn, type Scanner, SLOTS } from './shader-scanner.ts';

/**
 * Length of the batches with which variants are compared, in ms. It is long compared with the overhead of a batch, and
 * short compared with a turn.
 */
const DISPATCH_MS = 8;
/** Number of turns in which each variant is measured. */
const FIRST_TURNS = 3;
/** Number of further turns for the variants that may be the fastest. */
const FINAL_TURNS = 6;
/**
 * Variants with less than this fraction of the fastest variant's rate get no final turns. The exact value does not
 * matter.
 */
const HOPELESS = 0.93;

/**
 * Lengths of a batch to choose from, in ms. A length of 1 ms would be too short: the end of a batch is noticed up to 1
 * ms late, so the batch would seem too long. It would be made smaller, and would still seem too long.
 */
const BATCHES_MS = [2, 4, 8, 16, 32];
/** Number of turns for each length. */
const BATCH_TURNS = 3;
/**
 * Number of batches that a New Cut makes worthless on average: the running batch and the next one. A part of the
 * running batch has been searched then, but its solutions are reported only when the batch ends.
 */
const LOST_BATCHES = 2;
/** Intended time between two blocks of a chain, in ms. */
const BLOCK_MS = 30_000;
/**
 * Maximum fraction of a processor core that the child may use in the measurement. It is half of the 5 % that mining may
 * use, because a batch can cost twice as much when other programs use the same caches.
 */
const MOST_BUSY = 0.025;
/** Scores that differ by at most this fraction count as equal, because measurements vary by as much. */
const TIE = 0.003;

/** Runs a turn of a measurement while the GPU has nothing else to do. */
export type InTurn = <T>(turn: () => Promise<T>) => Promise<T>;

/** Runs each turn immediately, for a GPU that has nothing else to do. */
export const atOnce: InTurn = (turn) => turn();

/**
 * Called with a variant before it runs, and with undefined after it has run. If the process or the device is lost in
 * between, the parent has the name of the variant that may be the cause.
 */
export type Trying = (variant: Variant | undefined) => void;

/**
 * Runs a turn of a variant, between two calls of `trying`. If the turn fails, the second call is left out: the device
 * may be lost, and the variant may be the cause.
 */
async function tried<T>(variant: Variant, trying: Trying, turn: () => Promise<T>): Promise<T> {
  trying(variant);
  const result = await turn();
  trying(undefined);
  return result;
}

/** Measures scanners in turns. @returns the scanners with their rates, fastest first */
export async function raceVariants(
  scanners: readonly Scanner[],
  { warmUpMs, turnMs }: TuningLimits,
  trying: Trying,
  inTurn: InTurn = atOnce,
): Promise<{ readonly scanner: Scanner; readonly hashesPerSecond: number }[]> {
  const racers = scanners.map((scanner) => ({ scanner, perMs: 0 }));
  const race = async (turns: number, entrants: typeof racers) => {
    // The scanners take turns, so that a rising clock or a busy machine affects all of them alike.
    for (let turn = 0; turn < turns; turn++) {
      for (const racer of entrants) {
        const batch = { batchMs: DISPATCH_MS, perMs: racer.perMs, turnMs };
        const perMs = await inTurn(() =>
          tried(racer.scanner.variant, trying, () => pipelinedPerMs(racer.scanner, batch)),
        );
        racer.perMs = Math.max(racer.perMs, perMs);
      }
    }
  };
  for (const racer of racers) {
    racer.perMs = await inTurn(() => tried(racer.scanner.variant, trying, () => warmUp(racer.scanner)));
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
 * Measures batches of different lengths, with two batches in flight, as in mining.
 * @param hashesPerSecond the rate of the scanner, from `raceVariants`
 * @returns a row for each length, shortest first
 */
export async function raceBatches(
  scanner: Scanner,
  hashesPerSecond: number,
  { batchTurnMs }: TuningLimits,
  trying: Trying,
  inTurn: InTurn = atOnce,
): Promise<BatchRow[]> {
  const racers = BATCHES_MS.map((batchMs) => ({ batchMs, perMs: 0, busyMs: 0, turnMs: 0 }));
  const perMs = hashesPerSecond / 1000;
  for (let turn = 0; turn < BATCH_TURNS; turn++) {
    for (const racer of racers) {
      const { batchMs } = racer;
      const measure = async () => {
        const before = performance.eventLoopUtilization();
        racer.perMs = Math.max(racer.perMs, await pipelinedPerMs(scanner, { batchMs, perMs, turnMs: batchTurnMs }));
        const { active, idle } = performance.eventLoopUtilization(before);
        racer.busyMs += active;
        racer.turnMs += active + idle;
      };
      await inTurn(() => tried(scanner.variant, trying, measure));
    }
  }
  return racers.map(({ batchMs, perMs, busyMs, turnMs }) => ({
    batchMs,
    hashesPerSecond: Math.round(perMs * 1000),
    score: Math.round(perMs * 1000 * (1 - (LOST_BATCHES * batchMs) / BLOCK_MS)),
    busy: busyMs / turnMs,
  }));
}

/**
 * @returns the shortest batch whose score counts as equal to the best score. Batches with which the child uses more
 *   than MOST_BUSY of a core are left out. If the child uses more with every batch, the batch with the lowest use is
 *   returned
 */
export function bestBatch(rows: readonly BatchRow[]): BatchRow {
  const calm = Math.max(MOST_BUSY, Math.min(...rows.map(({ busy }) => busy)));
  const eligible = rows.filter(({ busy }) => busy <= calm);
  const best = Math.max(...eligible.map(({ score }) => score));
  return eligible.filter(({ score }) => score >= (1 - TIE) * best).sort((a, b) => a.batchMs - b.batchMs)[0];
}

/** Doubles the batch until it is long enough to measure, or as large as possible. @returns counters per ms */
async function warmUp(scanner: Scanner): Promise<number> {
  for (let counters = scanner.unit; ; counters *= 2) {
    const startMs = performance.now();
    await scanner.scan(NOTHING_SOLVES, stripOf(0, counters));
    const ms = performance.now() - startMs;
    if (ms >= DISPATCH_MS / 2 || 2 * counters > scanner.most) return counters / Math.max(ms, 0.001);
  }
}

interface Batch {
  /** Intended length of a batch, in ms. */
  readonly batchMs: number;
  /** Rate of the scanner as measured so far, in counters per ms; 0 if it is not known. */
  readonly perMs: number;
  /** Length of the turn, in ms. */
  readonly turnMs: number;
}

/** Keeps two batches in flight, as in mining. @returns counters per ms */
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
  return { lane: 0, step: 1, page: 0, pages: 1, counter, counters };
}

/* The number of nonces in a batch, chosen so that batches take a given time */

/**
 * Weight of the newest measurement. With this weight, averages cover about 5 batches. The exact value does not matter.
 */
const NEWEST = 0.2;
/**
 * Maximum factor by which a measurement changes the size. One wrong measurement must not lead to a batch that takes
 * seconds.
 */
const STEP = 2;

interface BatchSizeOptions {
  /** Intended length of a batch, in ms. */
  readonly goalMs: number;
  /** Number of nonces of which each size is a multiple. */
  readonly unit: number;
  /** Maximum size. */
  readonly most: number;
  /**
   * Size of the first batch. It must be tiny while the rate is unknown, because Windows resets a GPU that is busy for 2
   * s.
   */
  readonly first: number;
}

export class BatchSize {
  readonly #options: BatchSizeOptions;
  /** Moving average of the batches' numbers of nonces; 0 before the first measurement. */
  #counters = 0;
  /** Moving average of the batches' lengths in ms. */
  #ms = 0;
  #size: number;

  constructor(options: BatchSizeOptions) {
    this.#options = options;
    this.#size = this.#rounded(options.first);
  }

  /** Number of nonces that the next batch should have. */
  get size(): number {
    return this.#size;
  }

  /**
   * @returns the forecast length of a batch in ms; 0 before the first measurement. The forecast is never longer than
   *   the average so far. Otherwise a forecast that is too long would confirm itself, and would double whenever the
   *   batch doubles
   */
  expectedMs(counters: number): number {
    return this.#counters === 0 ? 0 : Math.min(counters / this.#counters, 1) * this.#ms;
  }

  /**
   * Adapts the size to the rate of a completed batch. The size at most doubles, and at most halves.
   * @param counters number of the batch's nonces @param ms length of the batch
   */
  observe(counters: number, ms: number): void {
    // If the end of one batch is noticed late and that of the next at once, the first batch seems too slow, and the
    // second infinitely fast. Averages of nonces and of ms balance such errors; an average of rates would not.
    const newest = this.#counters === 0 ? 1 : NEWEST;
    this.#counters += newest * (counters - this.#counters);
    // Even with a coarse clock, the rate must not become infinite.
    this.#ms += newest * (Math.max(ms, 0.001) - this.#ms);
    const wanted = (this.#counters / this.#ms) * this.#options.goalMs;
    this.#size = this.#rounded(Math.min(this.#size * STEP, Math.max(this.#size / STEP, wanted)));
  }

  #rounded(counters: number): number {
    const { unit, most } = this.#options;
    return Math.max(unit, Math.floor(Math.min(counters, most) / unit) * unit);
  }
}
