/** Keeps the GPU busy: cuts the given ranges into dispatches, keeps two in flight, and reports what each one searched. */

import { hashTail, type Puzzle, solves } from '../../../chain/job.ts';
import { joinNonce, type Range } from '../../../chain/nonce.ts';
import type { Clock } from '../../../system/clock.ts';
import type { Candidate } from '../../engine.ts';
import { BatchSize } from './batch-size.ts';
import { DispatchForecast } from './dispatch-forecast.ts';
import { expectIn } from './polling.ts';
import type { Report } from './reports.ts';
import type { Scanner } from './scanner.ts';
import { type Piece, type QueuedSearch, WorkQueue } from './work-queue.ts';

interface SearcherHooks {
  readonly report: (report: Report) => void;
  /** Called when there is nothing to search, so that waiting reports are sent to the parent, which may have more ranges. */
  readonly idle: () => void;
  /** Called after the last report of a stopped search. */
  readonly ended: (search: number) => void;
  /** Called when the device is lost, or computes wrong hashes. */
  readonly lost: (error: unknown) => void;
  /** Called between dispatches when a check is due. @throws DeviceError when the device fails the check. */
  readonly check: (scanner: Scanner) => Promise<void>;
}

export interface SearcherOptions {
  readonly scanner: Scanner;
  /** How long a dispatch should take. Dispatches cannot be stopped, so a job switch takes up to two of them. */
  readonly batchMs: number;
  /** How many counters the first dispatch has. The default is one workgroup's, since the rate is unknown. */
  readonly firstCounters?: number | undefined;
  /** Time between checks. A check follows the first dispatch that ends this long after the last check. */
  readonly checkEveryMs: number;
  readonly hooks: SearcherHooks;
  readonly clock: Clock;
}

export class Searcher {
  readonly #options: SearcherOptions;
  readonly #queue = new WorkQueue();
  readonly #batchSize: BatchSize;
  readonly #forecast = new DispatchForecast();
  #lastDoneMs = 0;
  #checkedMs: number;

  constructor(options: SearcherOptions) {
    const { scanner, batchMs, firstCounters: first = scanner.unit, clock } = options;
    this.#options = options;
    this.#batchSize = new BatchSize({ goalMs: batchMs, unit: scanner.unit, most: scanner.most, first });
    this.#checkedMs = clock.monotonicMs();
  }

  begin(id: number, puzzle: Puzzle): void {
    this.#queue.begin(id, puzzle);
  }

  add(id: number, range: Range): void {
    this.#queue.add(id, range);
    this.#pump();
  }

  stop(id: number): void {
    const search = this.#queue.stop(id);
    if (search) this.#endIfDone(search);
  }

  #pump(): void {
    const { scanner, hooks } = this.#options;
    while (scanner.free) {
      const piece = this.#queue.next(this.#batchSize.size);
      if (!piece) break;
      this.#dispatch(piece).then(() => this.#pump(), hooks.lost);
    }
    if (this.#forecast.inFlight === 0) hooks.idle();
    this.#beQuiet();
  }

  async #dispatch(piece: Piece): Promise<void> {
    const { scanner, hooks, clock, checkEveryMs } = this.#options;
    const { search, range } = piece;
    const beganMs = clock.monotonicMs();
    this.#forecast.submitted(beganMs, this.#batchSize.expectedMs(range.counters));
    const found = await scanner.scan(search.puzzle, range);
    const doneMs = clock.monotonicMs();
    this.#forecast.done(doneMs);
    // The GPU runs one dispatch after the other, so this dispatch's time began when the previous one ended. The small rest of
    // a range says little about the rate.
    const typical = range.counters > this.#batchSize.size / 2;
    if (typical) this.#batchSize.observe(range.counters, doneMs - Math.max(beganMs, this.#lastDoneMs));
    this.#lastDoneMs = doneMs;

    search.dispatched--;
    if (found === 'overflow') this.#queue.again(piece, partOf(range, scanner.unit));
    else
      hooks.report({
        search: search.id,
        searched: range,
        beganMs,
        candidates: candidatesOf(search.puzzle, range, found.hits),
      });
    this.#endIfDone(search);

    // A check needs a free slot. If a dispatch has just taken it, the check follows the next dispatch.
    if (doneMs - this.#checkedMs < checkEveryMs || !scanner.free) return;
    this.#checkedMs = doneMs;
    await hooks.check(scanner);
    this.#lastDoneMs = clock.monotonicMs();
  }

  /** Tells the polling when the oldest dispatch should end. */
  #beQuiet(): void {
    const { next } = this.#forecast;
    if (next) expectIn(next.dueMs - this.#options.clock.monotonicMs(), next.lengthMs);
  }

  #endIfDone(search: QueuedSearch): void {
    if (!search.stopped || search.dispatched > 0) return;
    this.#queue.forget(search.id);
    this.#options.hooks.ended(search.id);
  }
}

/** @returns half of the counters that had too many hits, but at least one workgroup's, which can never overflow */
function partOf({ counters }: Range, unit: number): number {
  return Math.max(Math.floor(counters / 2), unit);
}

/**
 * The shader compares only the hash's most significant word. When that word equals the target's, a hit need not solve the
 * puzzle, and such hits are dropped. Any other wrong hit stays a candidate, so that the referee counts a hardware error.
 */
function candidatesOf(puzzle: Puzzle, { lane, page }: Range, hits: readonly number[]): Candidate[] {
  const parts = hits.map((counter) => ({ lane, page, counter }));
  return parts
    .filter((nonce) => solves(puzzle, nonce) || hashTail(puzzle, nonce)[7] !== puzzle.target[7])
    .map(joinNonce);
}
