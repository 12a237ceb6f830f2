/** Keeps the GPU busy: cuts what it is given into dispatches, two in flight, and tells what each one searched. */

import { hashTail, type Search, solves } from '../../../chain/job.ts';
import { joinNonce, type Range } from '../../../chain/nonce.ts';
import type { Clock } from '../../../system/clock.ts';
import { Foresight } from './foresight.ts';
import { expectIn } from './polling.ts';
import type { Report } from './reports.ts';
import type { Scanner } from './scanner.ts';
import { Sizing } from './sizing.ts';
import { type Piece, type Task, WorkQueue } from './work-queue.ts';

export interface SearcherHooks {
  readonly report: (report: Report) => void;
  /** There is nothing to search: whoever could give more must hear of everything. */
  readonly idle: () => void;
  /** After the last report of a stopped search. */
  readonly ended: (search: number) => void;
  /** The device is lost, or computes wrong hashes. */
  readonly lost: (error: unknown) => void;
  /** Called when the device must prove itself: between dispatches. @throws DeviceError when it fails. */
  readonly check: (scanner: Scanner) => Promise<void>;
}

export interface SearcherOptions {
  readonly scanner: Scanner;
  /** What a dispatch should take: it cannot be stopped, so two of them are the restart latency. */
  readonly batchMs: number;
  /** Of the first dispatch; left out, one workgroup's, since the rate is unknown. */
  readonly firstCounters?: number | undefined;
  /** Between checks: the first dispatch that ends so long after the last check waits for one. */
  readonly checkEveryMs: number;
  readonly hooks: SearcherHooks;
  readonly clock: Clock;
}

export class Searcher {
  readonly #options: SearcherOptions;
  readonly #queue = new WorkQueue();
  readonly #sizing: Sizing;
  readonly #foresight = new Foresight();
  #lastDoneMs = 0;
  #checkedMs: number;

  constructor(options: SearcherOptions) {
    const { scanner, batchMs, firstCounters: first = scanner.unit, clock } = options;
    this.#options = options;
    this.#sizing = new Sizing({ goalMs: batchMs, unit: scanner.unit, most: scanner.most, first });
    this.#checkedMs = clock.monotonicMs();
  }

  begin(id: number, search: Search): void {
    this.#queue.begin(id, search);
  }

  add(id: number, range: Range): void {
    this.#queue.add(id, range);
    this.#pump();
  }

  stop(id: number): void {
    const task = this.#queue.stop(id);
    if (task) this.#endIfDone(task);
  }

  #pump(): void {
    const { scanner, hooks } = this.#options;
    while (scanner.free) {
      const piece = this.#queue.next(this.#sizing.size);
      if (!piece) break;
      this.#dispatch(piece).then(() => this.#pump(), hooks.lost);
    }
    if (this.#foresight.inFlight === 0) hooks.idle();
    this.#beQuiet();
  }

  async #dispatch(piece: Piece): Promise<void> {
    const { scanner, hooks, clock, checkEveryMs } = this.#options;
    const { task, range } = piece;
    const beganMs = clock.monotonicMs();
    this.#foresight.submitted(beganMs, this.#sizing.expectedMs(range.counters));
    const found = await scanner.scan(task, range);
    const doneMs = clock.monotonicMs();
    this.#foresight.done(doneMs);
    // The GPU runs one dispatch after the other: this one's time began when the one before it was done. Of a range's
    // small rest the time says little about the rate.
    const typical = range.counters > this.#sizing.size / 2;
    if (typical) this.#sizing.observe(range.counters, doneMs - Math.max(beganMs, this.#lastDoneMs));
    this.#lastDoneMs = doneMs;

    task.dispatched--;
    if (found === 'overflow') this.#queue.again(piece, partOf(range, scanner.unit));
    else hooks.report({ search: task.id, searched: range, beganMs, candidates: claims(task, range, found.hits) });
    this.#endIfDone(task);

    // A check needs the place of a dispatch, which another may just have taken: then the next one sees to it.
    if (doneMs - this.#checkedMs < checkEveryMs || !scanner.free) return;
    this.#checkedMs = doneMs;
    await hooks.check(scanner);
    this.#lastDoneMs = clock.monotonicMs();
  }

  /** Until the oldest dispatch can be done, nobody need look for its end. */
  #beQuiet(): void {
    const { next } = this.#foresight;
    if (next) expectIn(next.dueMs - this.#options.clock.monotonicMs(), next.lengthMs);
  }

  #endIfDone(task: Task): void {
    if (!task.stopped || task.dispatched > 0) return;
    this.#queue.forget(task.id);
    this.#options.hooks.ended(task.id);
  }
}

/** Half of what had too many hits, down to one workgroup: all of its counters can hit without overflow. */
function partOf({ counters }: Range, unit: number): number {
  return Math.max(Math.floor(counters / 2), unit);
}

/**
 * The shader looks at the hash's most significant word alone, so where that equals the target's it can be wrong in good
 * faith: such a hit is dropped. Any other wrong hit stays a claim: the device made it up, and that has to be seen.
 */
function claims(search: Search, { lane, page }: Range, hits: readonly number[]): bigint[] {
  const parts = hits.map((counter) => ({ lane, page, counter }));
  return parts
    .filter((nonce) => solves(search, nonce) || hashTail(search, nonce)[7] !== search.target[7])
    .map(joinNonce);
}
