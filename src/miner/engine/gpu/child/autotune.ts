/** Measures variants of the kernel and lengths of a dispatch. Chip and compiler decide which are best. */

import { NOTHING_SOLVES } from '../../../../protocol/chain/job.ts';
import { COUNTERS, type Range } from '../../../../protocol/chain/nonce.ts';
import type { BatchRow, TuningLimits, Variant } from '../tuning.ts';
import { DispatchForecast, expectIn, type Scanner, SLOTS } from './shader-scanner.ts';

/**
 * Length of the dispatches with which variants are compared: long compared with the overhead, short compared with a
 * turn.
 */
const DISPATCH_MS = 8;
const FIRST_TURNS = 3;
const FINAL_TURNS = 6;
/** Variants slower than this fraction of the fastest get no final turns. The exact value does not matter. */
const HOPELESS = 0.93;

/**
 * Lengths of a dispatch to choose from. 1 ms is too short: ends are noticed up to 1 ms late, so such a dispatch would
 * seem too long, be made smaller, and still seem too long.
 */
const BATCHES_MS = [2, 4, 8, 16, 32];
const BATCH_TURNS = 3;
/**
 * Number of dispatches that a New Cut makes worthless: half of the running one, the whole next one, and half of one
 * more, because solutions are reported half a dispatch late on average and are lost when a New Cut comes before that.
 */
const LOST_BATCHES = 2;
/** Time between blocks of a chain that the ledger aims for. */
const BLOCK_MS = 30_000;
/**
 * Maximum fraction of a core that the measured child may use: half of what mining may use, because a dispatch can cost
 * twice as much when other programs use the same caches.
 */
const MOST_BUSY = 0.025;
/** Scores that differ by less than this fraction count as equal, because measurements vary by as much. */
const TIE = 0.003;

/** Runs a turn while the GPU has nothing else to do. */
export type InTurn = <T>(turn: () => Promise<T>) => Promise<T>;

/** Runs each turn immediately, for a GPU that has nothing else to do. */
export const atOnce: InTurn = (turn) => turn();

/**
 * Called before a variant runs, and with undefined when it has run. If the process or the device is lost in between,
 * the parent knows which variant may have caused it.
 */
export type Trying = (variant: Variant | undefined) => void;

/**
 * Runs a turn of a variant. After a failure the variant stays named as the one being tried, because the device may be
 * lost.
 */
async function tried<T>(variant: Variant, trying: Trying, turn: () => Promise<T>): Promise<T> {
  trying(variant);
  const result = await turn();
  trying(undefined);
  return result;
}

/** @returns the scanners with their rates, fastest first */
export async function raceVariants(
  scanners: readonly Scanner[],
  { warmUpMs, turnMs }: TuningLimits,
  trying: Trying,
  inTurn: InTurn = atOnce,
): Promise<{ readonly scanner: Scanner; readonly hashesPerSecond: number }[]> {
  const racers = scanners.map((scanner) => ({ scanner, perMs: 0 }));
  const race = async (turns: number, entrants: typeof racers) => {
    // The entrants take turns, so that a rising clock or a busy machine affects all alike.
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
 * Measures dispatches of different lengths, with two in flight as when mining.
 * @param hashesPerSecond the rate by `raceVariants`
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

/** @returns the shortest of the batches with the best score that leave the processor mostly idle */
export function bestBatch(rows: readonly BatchRow[]): BatchRow {
  const calm = Math.max(MOST_BUSY, Math.min(...rows.map(({ busy }) => busy)));
  const eligible = rows.filter(({ busy }) => busy <= calm);
  const best = Math.max(...eligible.map(({ score }) => score));
  return eligible.filter(({ score }) => score >= (1 - TIE) * best).sort((a, b) => a.batchMs - b.batchMs)[0];
}

/** Doubles the dispatch until it is long enough to measure. @returns counters per ms */
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
  /** Counters per ms, as measured so far. */
  readonly perMs: number;
  readonly turnMs: number;
}

/** Keeps two dispatches in flight as when mining. @returns counters per ms */
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

/* The number of counters in a dispatch, by which it takes a given time */

/** Weight of the newest measurement: averages cover about 5 batches. The exact value does not matter. */
const NEWEST = 0.2;
/** Maximum factor of a change: one wrong measurement must not lead to a dispatch of seconds. */
const STEP = 2;

interface BatchSizeOptions {
  readonly goalMs: number;
  /** Sizes are multiples of this. */
  readonly unit: number;
  readonly most: number;
  /** First size. It must be tiny while the rate is unknown, because Windows resets a GPU that is busy for 2 s. */
  readonly first: number;
}

export class BatchSize {
  readonly #options: BatchSizeOptions;
  /** Moving averages of counters and ms. */
  #counters = 0;
  #ms = 0;
  #size: number;

  constructor(options: BatchSizeOptions) {
    this.#options = options;
    this.#size = this.#rounded(options.first);
  }

  get size(): number {
    return this.#size;
  }

  /**
   * Forecast of the ms that a batch takes; 0 before the first measurement. The forecast is never longer than the
   * average batch so far: otherwise a forecast that is too long would confirm itself, and would double whenever the
   * batch doubles.
   */
  expectedMs(counters: number): number {
    return this.#counters === 0 ? 0 : Math.min(counters / this.#counters, 1) * this.#ms;
  }

  /** @param ms the time that a batch with this number of counters took */
  observe(counters: number, ms: number): void {
    // If one end is noticed late and the next at once, the first batch seems too slow and the second infinitely fast.
    // Averages of counters and of ms balance that; an average of rates would not.
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
