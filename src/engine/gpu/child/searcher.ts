/** Keeps the GPU busy: cuts what it is given into dispatches, two in flight, and reports what each one searched. */

import { hashTail, type Search, solves } from '../../../chain/job.ts';
import { joinNonce, type Range } from '../../../chain/nonce.ts';
import { systemClock } from '../../../clock.ts';
import { MOST_COUNTERS, type Scanner, WORKGROUP_COUNTERS } from './scanner.ts';
import { Sizing } from './sizing.ts';
import { type Piece, type Task, WorkQueue } from './work-queue.ts';

export interface SearcherHooks {
  readonly report: (search: number, report: { searched: Range; beganMs: number; candidates: bigint[] }) => void;
  /** After the last report of a stopped search. */
  readonly ended: (search: number) => void;
  /** The device is lost. */
  readonly lost: (error: unknown) => void;
}

export class Searcher {
  readonly #scanner: Scanner;
  readonly #hooks: SearcherHooks;
  readonly #queue = new WorkQueue();
  readonly #sizing: Sizing;
  #lastDoneMs = 0;

  /** @param batchMs what a dispatch should take: a dispatch cannot be stopped, so two of them are the restart latency */
  constructor(scanner: Scanner, batchMs: number, hooks: SearcherHooks) {
    this.#scanner = scanner;
    this.#hooks = hooks;
    this.#sizing = new Sizing({
      goalMs: batchMs,
      unit: WORKGROUP_COUNTERS,
      most: MOST_COUNTERS,
      first: WORKGROUP_COUNTERS,
    });
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
    while (this.#scanner.free) {
      const piece = this.#queue.next(this.#sizing.size);
      if (!piece) return;
      this.#dispatch(piece).then(() => this.#pump(), this.#hooks.lost);
    }
  }

  async #dispatch(piece: Piece): Promise<void> {
    const { task, range } = piece;
    const beganMs = systemClock.monotonicMs();
    const found = await this.#scanner.scan(task, range);
    const doneMs = systemClock.monotonicMs();
    // The GPU runs one dispatch after the other: this one's time began when the one before it was done. Of a range's
    // small rest the time says little about the rate.
    const typical = range.counters > this.#sizing.size / 2;
    if (typical) this.#sizing.observe(range.counters, doneMs - Math.max(beganMs, this.#lastDoneMs));
    this.#lastDoneMs = doneMs;

    task.dispatched--;
    if (found === 'overflow') this.#queue.again(piece, partOf(range));
    else this.#hooks.report(task.id, { searched: range, beganMs, candidates: claims(task, range, found.hits) });
    this.#endIfDone(task);
  }

  #endIfDone(task: Task): void {
    if (!task.stopped || task.dispatched > 0) return;
    this.#queue.forget(task.id);
    this.#hooks.ended(task.id);
  }
}

/** Half of what had too many hits, down to one workgroup: all of its counters can hit without overflow. */
function partOf({ counters }: Range): number {
  return Math.max(Math.floor(counters / 2), WORKGROUP_COUNTERS);
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
