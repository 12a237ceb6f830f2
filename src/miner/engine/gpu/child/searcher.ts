/** Keeps the GPU busy: cuts ranges into batches, keeps two in flight, and reports what was searched. */

import type { Clock } from '../../../../base/system/clock.ts';
import { hashTail, type Puzzle, solves } from '../../../../protocol/chain/job.ts';
import { joinNonce, type Range, sizeOf } from '../../../../protocol/chain/nonce.ts';
import type { Candidate } from '../../engine.ts';
import { BatchSize } from './autotune.ts';
import { cutBatch, DispatchForecast, expectIn, type Hit, type Scanner } from './shader-scanner.ts';

interface SearcherHooks {
  readonly report: (report: Report) => void;
  /**
   * Called when there is nothing to search. Waiting reports must be sent then, because the parent may have more ranges.
   */
  readonly idle: () => void;
  /** Called after the last report of a stopped search. */
  readonly ended: (search: number) => void;
  /** Called when the device is lost or computes wrong hashes. */
  readonly lost: (error: unknown) => void;
  /** Called between dispatches when a check is due. @throws DeviceError when the device fails it */
  readonly check: (scanner: Scanner) => Promise<void>;
}

export interface SearcherOptions {
  readonly scanner: Scanner;
  /** Time that a dispatch should take. A dispatch cannot be stopped, so a job switch takes up to two dispatches. */
  readonly batchMs: number;
  /** Nonces in the first batch: by default one workgroup's, since the rate is unknown. */
  readonly firstCounters?: number | undefined;
  /** Minimum time between checks. A check that is due follows the end of the next dispatch. */
  readonly checkEveryMs: number;
  readonly hooks: SearcherHooks;
  readonly clock: Clock;
}

/**
 * Time that the GPU searches after an interruption, as a multiple of the length of the interruption. So interruptions
 * take at most 5 % of the time.
 */
const REST = 19;
/**
 * Maximum time that the GPU searches after an interruption. An interruption is long enough to reach it only if the
 * process was suspended meanwhile.
 */
const MOST_REST_MS = 60_000;

export class Searcher {
  readonly #options: Omit<SearcherOptions, 'scanner' | 'batchMs' | 'firstCounters'>;
  readonly #queue = new WorkQueue();
  readonly #forecast = new DispatchForecast();
  readonly #interruptions: (() => Promise<void>)[] = [];
  #scanner: Scanner;
  #batchSize: BatchSize;
  #lastDoneMs = 0;
  #checkedMs: number;
  /** Whether an interruption is using the GPU. */
  #isInterrupted = false;
  #isChecking = false;
  #interruptAtMs = Number.NEGATIVE_INFINITY;

  constructor({ scanner, batchMs, firstCounters, ...options }: SearcherOptions) {
    this.#options = options;
    this.#scanner = scanner;
    this.#batchSize = batchSizeOf(scanner, batchMs, firstCounters);
    this.#checkedMs = options.clock.monotonicMs();
  }

  /**
   * Runs an action that has the GPU to itself, between two dispatches. While nothing is searched the action waits,
   * because the device may be paused. It also waits until interruptions take at most a twentieth of the time.
   */
  interrupt<T>(action: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#interruptions.push(() => action().then(resolve, reject));
      this.#pump();
    });
  }

  /** Searches with another scanner from now on. Call it only in an interruption. @returns the previous scanner */
  replace(scanner: Scanner, batchMs: number, firstCounters?: number): Scanner {
    const before = this.#scanner;
    this.#scanner = scanner;
    this.#batchSize = batchSizeOf(scanner, batchMs, firstCounters);
    return before;
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
    const { hooks } = this.#options;
    if (this.#interruptIfDue()) return;
    const scanner = this.#scanner;
    while (scanner.free) {
      const piece = this.#queue.next(this.#batchSize.size, scanner.unit);
      if (!piece) break;
      this.#dispatch(piece).then(() => this.#pump(), hooks.lost);
    }
    if (this.#forecast.inFlight === 0) hooks.idle();
    this.#beQuiet();
  }

  /**
   * @returns whether no dispatch may begin, because an interruption uses the GPU or waits for the dispatches in flight
   */
  #interruptIfDue(): boolean {
    if (this.#isInterrupted) return true;
    const [action] = this.#interruptions;
    const isDue = !this.#queue.isEmpty && this.#options.clock.monotonicMs() >= this.#interruptAtMs;
    if (!action || !isDue) return false;
    if (this.#forecast.inFlight > 0 || this.#isChecking) return true;
    this.#interruptions.shift();
    void this.#interrupted(action);
    return true;
  }

  async #interrupted(action: () => Promise<void>): Promise<void> {
    const { clock } = this.#options;
    const beganMs = clock.monotonicMs();
    this.#isInterrupted = true;
    await action();
    this.#isInterrupted = false;
    const endedMs = clock.monotonicMs();
    this.#interruptAtMs = endedMs + Math.min(REST * (endedMs - beganMs), MOST_REST_MS);
    this.#pump();
  }

  async #dispatch(piece: Piece): Promise<void> {
    const { hooks, clock, checkEveryMs } = this.#options;
    const scanner = this.#scanner;
    const { search, range } = piece;
    const nonces = sizeOf(range);
    const beganMs = clock.monotonicMs();
    this.#forecast.submitted(beganMs, this.#batchSize.expectedMs(nonces));
    const found = await scanner.scan(search.puzzle, range);
    const doneMs = clock.monotonicMs();
    this.#forecast.done(doneMs);
    // On the GPU, the dispatch began when the previous one ended. Small dispatches, at the end of a range, do not show
    // the rate well.
    const typical = nonces > this.#batchSize.size / 2;
    if (typical) this.#batchSize.observe(nonces, doneMs - Math.max(beganMs, this.#lastDoneMs));
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

    // If a dispatch has just taken the free slot, the check follows that dispatch.
    if (doneMs - this.#checkedMs < checkEveryMs || !scanner.free) return;
    this.#checkedMs = doneMs;
    this.#isChecking = true;
    await hooks.check(scanner);
    this.#isChecking = false;
    this.#lastDoneMs = clock.monotonicMs();
  }

  /** Passes the expected end of the oldest dispatch to the polling. */
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

/** @param first nonces in the first batch: by default one workgroup's, since the rate is unknown */
function batchSizeOf({ unit, most }: Scanner, goalMs: number, first = unit): BatchSize {
  return new BatchSize({ goalMs, unit, most, first });
}

/** @returns half of the range's nonces, but at least one workgroup's, whose hits cannot overflow */
function partOf(range: Range, unit: number): number {
  return Math.max(Math.floor(sizeOf(range) / 2), unit);
}

/**
 * The shader compares only the most significant word of the hash with the target's. Hits whose word is equal, and that
 * do not solve the puzzle, are dropped. Other wrong hits are kept, so that the referee counts hardware errors.
 */
function candidatesOf(puzzle: Puzzle, { lane, step }: Range, hits: readonly Hit[]): Candidate[] {
  return hits
    .map((hit) => ({ lane, step, ...hit }))
    .filter((nonce) => solves(puzzle, nonce) || hashTail(puzzle, nonce)[7] !== puzzle.target[7])
    .map(joinNonce);
}

/* The ranges that were received from the parent and not yet dispatched */

/** A search, from its first message until it has ended. */
interface QueuedSearch {
  readonly id: number;
  readonly puzzle: Puzzle;
  readonly waiting: Range[];
  /** Maximum number of nonces in a batch. It shrinks when a result has no room for all hits. */
  most: number;
  /** Dispatches in flight. */
  dispatched: number;
  stopped: boolean;
}

interface Piece {
  readonly search: QueuedSearch;
  readonly range: Range;
}

export class WorkQueue {
  /** The searches that have not ended, oldest first. */
  readonly #searches = new Map<number, QueuedSearch>();

  begin(id: number, puzzle: Puzzle): void {
    this.#searches.set(id, {
      id,
      puzzle,
      waiting: [],
      most: Number.POSITIVE_INFINITY,
      dispatched: 0,
      stopped: false,
    });
  }

  add(id: number, range: Range): void {
    this.#searches.get(id)?.waiting.push(range);
  }

  /** Drops the waiting ranges. Dispatches in flight go on. */
  stop(id: number): QueuedSearch | undefined {
    const search = this.#searches.get(id);
    if (search) {
      search.stopped = true;
      search.waiting.length = 0;
    }
    return search;
  }

  forget(id: number): void {
    this.#searches.delete(id);
  }

  /** Whether no range waits and no dispatch is in flight. */
  get isEmpty(): boolean {
    return [...this.#searches.values()].every(({ waiting, dispatched }) => waiting.length === 0 && dispatched === 0);
  }

  /**
   * Cuts off the next batch's range, for the newest search first, because older ones are about to be stopped.
   * @param size maximum number of nonces @param unit counters in a workgroup
   */
  next(size: number, unit: number): Piece | undefined {
    const search = [...this.#searches.values()].findLast(({ waiting }) => waiting.length > 0);
    if (!search) return undefined;
    const { batch, rest } = cutBatch(search.waiting[0], Math.min(size, search.most), unit);
    search.waiting.splice(0, 1, ...rest);
    search.dispatched++;
    return { search, range: batch };
  }

  /**
   * Puts back a piece with too many hits, to be searched in parts of at most `most` nonces, unless its search was
   * stopped.
   */
  again({ search, range }: Piece, most: number): void {
    search.most = Math.min(search.most, most);
    if (!search.stopped) search.waiting.unshift(range);
  }
}

/*
 * Reports to the parent. A dispatch takes milliseconds, and a message costs both processes 0.1 ms, so consecutive
 * ranges are reported as one. Two kinds of reports are sent at once: those with a candidate, and the first one of a
 * search, which shows how soon a new job is searched.
 */

/** Maximum time that a report without candidates waits: short enough for a live hashrate. */
const REPORT_MS = 100;

export interface Report {
  /** The number of the search. */
  readonly search: number;
  readonly searched: Range;
  /** When this range's first dispatch was submitted, on the system clock's `monotonicMs`. */
  readonly beganMs: number;
  readonly candidates: readonly Candidate[];
}

export class Reports {
  readonly #send: (report: Report) => void;
  readonly #clock: Clock;
  #waiting: Report | undefined;
  #timer: NodeJS.Timeout | undefined;
  #sentMs = Number.NEGATIVE_INFINITY;
  /** Number of the search whose report was sent last. */
  #sent: number | undefined;

  constructor(send: (report: Report) => void, clock: Clock) {
    this.#send = send;
    this.#clock = clock;
  }

  /** Sends the report of a dispatch now or within REPORT_MS. */
  add(report: Report): void {
    if (this.#waiting && !continues(this.#waiting, report)) this.flush();
    this.#waiting = this.#waiting ? joined(this.#waiting, report) : report;
    const waitMs = this.#sentMs + REPORT_MS - this.#clock.monotonicMs();
    if (report.candidates.length > 0 || report.search !== this.#sent || waitMs <= 0) this.flush();
    // A timer sends the report, because no further report may come.
    else this.#timer ??= setTimeout(() => this.flush(), waitMs);
  }

  /** Call this before other messages about a search, and when there is nothing to search. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const report = this.#waiting;
    if (!report) return;
    this.#waiting = undefined;
    this.#sentMs = this.#clock.monotonicMs();
    this.#sent = report.search;
    this.#send(report);
  }
}

function joined({ search, searched, beganMs, candidates }: Report, next: Report): Report {
  return { search, searched: union(searched, next.searched), beganMs, candidates: [...candidates, ...next.candidates] };
}

function continues(report: Report, next: Report): boolean {
  const [{ searched }, { searched: after }] = [report, next];
  return report.search === next.search && (isBeside(searched, after) || isAbove(searched, after));
}

function isOfOneLane(one: Range, other: Range): boolean {
  return one.lane === other.lane && one.step === other.step;
}

/** Whether two ranges have the same pages, and the counters of `other` follow those of `one`. */
function isBeside(one: Range, other: Range): boolean {
  const hasSamePages = one.page === other.page && one.pages === other.pages;
  return isOfOneLane(one, other) && hasSamePages && one.counter + one.counters === other.counter;
}

/** Whether two ranges have the same counters, and the pages of `other` follow those of `one`. */
function isAbove(one: Range, other: Range): boolean {
  const hasSameCounters = one.counter === other.counter && one.counters === other.counters;
  return isOfOneLane(one, other) && hasSameCounters && one.page + one.pages === other.page;
}

function union(one: Range, other: Range): Range {
  if (isAbove(one, other)) return { ...one, pages: one.pages + other.pages };
  return { ...one, counters: one.counters + other.counters };
}
