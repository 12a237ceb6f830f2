/** Keeps the GPU busy: cuts ranges into batches, keeps two batches in flight, and reports the searched ranges. */

import type { Clock } from '../../../../base/system/clock.ts';
import { hashTail, type Puzzle, solves } from '../../../../protocol/chain/job.ts';
import { joinNonce, type Range, sizeOf } from '../../../../protocol/chain/nonce.ts';
import type { Candidate } from '../../engine.ts';
import { BatchSize } from './autotune.ts';
import { cutBatch, DispatchForecast, expectIn, type Hit, type Scanner } from './shader-scanner.ts';

interface SearcherHooks {
  readonly report: (report: Report) => void;
  /**
   * Called when no batch is in flight and no batch can begin. Waiting reports must then be sent, because the parent
   * sends more ranges only when it receives a report.
   */
  readonly idle: () => void;
  /** Called after the last report of a stopped search, with the number of the search. */
  readonly ended: (search: number) => void;
  /** Called with the error when a dispatch or a check has failed. */
  readonly lost: (error: unknown) => void;
  /** Called after the end of a batch, when a check is due. @throws DeviceError when the device fails the check */
  readonly check: (scanner: Scanner) => Promise<void>;
}

export interface SearcherOptions {
  readonly scanner: Scanner;
  /** Intended length of a batch, in ms. A batch cannot be stopped, so a new job begins up to two batches late. */
  readonly batchMs: number;
  /**
   * Number of nonces in the first batch. The default is the number of nonces in one workgroup, because the rate may be
   * unknown.
   */
  readonly firstCounters?: number | undefined;
  /** Minimum time between two checks, in ms. When a check is due, it is made after one of the next batches. */
  readonly checkEveryMs: number;
  readonly hooks: SearcherHooks;
  readonly clock: Clock;
}

/**
 * The pause after an interruption is at least this many times as long as the interruption. So interruptions take at
 * most 5 % of the time.
 */
const REST = 19;
/**
 * Maximum length of the pause after an interruption, in ms. It is reached only if the process was suspended during the
 * interruption.
 */
const MOST_REST_MS = 60_000;

export class Searcher {
  readonly #options: Omit<SearcherOptions, 'scanner' | 'batchMs' | 'firstCounters'>;
  readonly #queue = new WorkQueue();
  readonly #forecast = new DispatchForecast();
  readonly #interruptions: (() => Promise<void>)[] = [];
  #scanner: Scanner;
  #batchSize: BatchSize;
  /** Time at which the last batch or check ended, in ms on the clock's `monotonicMs`. */
  #lastDoneMs = 0;
  /** Time of the last check, in ms on the clock's `monotonicMs`. */
  #checkedMs: number;
  /** Whether an interruption is using the GPU. */
  #isInterrupted = false;
  #isChecking = false;
  /** Time from which the next interruption may begin, in ms on the clock's `monotonicMs`. */
  #interruptAtMs = Number.NEGATIVE_INFINITY;

  constructor({ scanner, batchMs, firstCounters, ...options }: SearcherOptions) {
    this.#options = options;
    this.#scanner = scanner;
    this.#batchSize = batchSizeOf(scanner, batchMs, firstCounters);
    this.#checkedMs = options.clock.monotonicMs();
  }

  /**
   * Runs an action between two batches, while no batch is in flight. The action waits while nothing is searched,
   * because mining may be paused. It also waits after another interruption, so that interruptions take at most 5 % of
   * the time.
   * @returns the result of the action
   */
  interrupt<T>(action: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      // Whenever a range waits, a batch, a check or another interruption is running, after whose end this one is begun.
      this.#interruptions.push(() => action().then(resolve, reject));
    });
  }

  /** Uses another scanner for all further batches. Call this only in an interruption. @returns the previous scanner */
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
   * Begins an interruption when one is due and no batch is in flight.
   * @returns whether no batch may begin, because an interruption uses the GPU, or waits for the batches in flight or
   *   for a check
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
    // On the GPU, a batch begins when the previous batch has ended, but not before it is submitted. Small batches,
    // which occur at the end of a range, do not show the rate well.
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

    // A check takes the place of a batch. If a new batch has taken the place of the one that has ended, the check is
    // made after a later batch.
    if (doneMs - this.#checkedMs < checkEveryMs || !scanner.free) return;
    this.#checkedMs = doneMs;
    this.#isChecking = true;
    await hooks.check(scanner);
    this.#isChecking = false;
    this.#lastDoneMs = clock.monotonicMs();
  }

  /** Lets Dawn rarely ask for the end of a batch until the oldest batch in flight should end (see `expectIn`). */
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

/**
 * @param first number of nonces in the first batch. The default is the number of nonces in one workgroup, because the
 *   rate may be unknown
 */
function batchSizeOf({ unit, most }: Scanner, goalMs: number, first = unit): BatchSize {
  return new BatchSize({ goalMs, unit, most, first });
}

/**
 * @returns half of the number of nonces in the range, but at least `unit`. A result always has room for the hits of one
 *   workgroup
 */
function partOf(range: Range, unit: number): number {
  return Math.max(Math.floor(sizeOf(range) / 2), unit);
}

/**
 * The shader compares only word 7 of the hash, the most significant one, with word 7 of the target. If the two words
 * are equal, the hash can still be above the target. Such a hit is dropped. Other wrong hits show that the hardware
 * computes wrongly. They stay candidates, so that `verify` rejects them and the parent counts them.
 */
function candidatesOf(puzzle: Puzzle, { lane, step }: Range, hits: readonly Hit[]): Candidate[] {
  return hits
    .map((hit) => ({ lane, step, ...hit }))
    .filter((nonce) => solves(puzzle, nonce) || hashTail(puzzle, nonce)[7] !== puzzle.target[7])
    .map(joinNonce);
}

/* The ranges that were received from the parent and are not yet dispatched */

/** A search, from the parent's message that begins it until it has ended. */
interface QueuedSearch {
  readonly id: number;
  readonly puzzle: Puzzle;
  readonly waiting: Range[];
  /** Maximum number of nonces in a batch of this search. It shrinks when a result has no room for all hits. */
  most: number;
  /** Number of this search's batches in flight. */
  dispatched: number;
  stopped: boolean;
}

/** The range of a batch, with its search. */
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

  /**
   * Stops a search and drops its waiting ranges. Its batches in flight go on.
   * @returns the search; undefined if no search has this number
   */
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

  /** Whether no range waits. */
  get isEmpty(): boolean {
    return [...this.#searches.values()].every(({ waiting }) => waiting.length === 0);
  }

  /**
   * Cuts off the range of the next batch. The newest search is served first, because the parent is about to stop older
   * searches.
   * @param size maximum number of nonces @param unit number of counters in a workgroup
   * @returns undefined when no range waits
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
   * Puts back the range of a batch with too many hits, unless its search was stopped. From then on, batches of the
   * search have at most `most` nonces.
   */
  again({ search, range }: Piece, most: number): void {
    search.most = Math.min(search.most, most);
    if (!search.stopped) search.waiting.unshift(range);
  }
}

/*
 * Reports to the parent. A batch takes milliseconds, and a message costs each process 0.1 ms, so adjacent ranges are
 * reported together. Two kinds of reports are sent at once: reports with candidates, and the first report of a search,
 * which shows how soon a new job is searched.
 */

/** Maximum time that a report without candidates waits, in ms. It is short enough for an up-to-date hashrate. */
const REPORT_MS = 100;

export interface Report {
  /** Number of the search. */
  readonly search: number;
  readonly searched: Range;
  /** Time at which the first batch of this range was submitted, in ms on the system clock's `monotonicMs`. */
  readonly beganMs: number;
  readonly candidates: readonly Candidate[];
}

export class Reports {
  readonly #send: (report: Report) => void;
  readonly #clock: Clock;
  #waiting: Report | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Time at which the last report was sent, in ms on the clock's `monotonicMs`. */
  #sentMs = Number.NEGATIVE_INFINITY;
  /** Number of the search whose report was sent last; undefined before the first report. */
  #sent: number | undefined;

  constructor(send: (report: Report) => void, clock: Clock) {
    this.#send = send;
    this.#clock = clock;
  }

  /** Sends the report of a batch within REPORT_MS, perhaps joined with the reports of other batches. */
  add(report: Report): void {
    if (this.#waiting && !continues(this.#waiting, report)) this.flush();
    this.#waiting = this.#waiting ? joined(this.#waiting, report) : report;
    const waitMs = this.#sentMs + REPORT_MS - this.#clock.monotonicMs();
    if (report.candidates.length > 0 || report.search !== this.#sent || waitMs <= 0) this.flush();
    // If no further report comes, the timer sends this report.
    else this.#timer ??= setTimeout(() => this.flush(), waitMs);
  }

  /**
   * Sends the waiting report, if there is one. Call this before other messages about a search, and when there is
   * nothing to search.
   */
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

/** Whether two ranges of one lane have the same pages, and the counters of `other` follow the counters of `one`. */
function isBeside(one: Range, other: Range): boolean {
  const hasSamePages = one.page === other.page && one.pages === other.pages;
  return isOfOneLane(one, other) && hasSamePages && one.counter + one.counters === other.counter;
}

/** Whether two ranges of one lane have the same counters, and the pages of `other` follow the pages of `one`. */
function isAbove(one: Range, other: Range): boolean {
  const hasSameCounters = one.counter === other.counter && one.counters === other.counters;
  return isOfOneLane(one, other) && hasSameCounters && one.page + one.pages === other.page;
}

function union(one: Range, other: Range): Range {
  if (isAbove(one, other)) return { ...one, pages: one.pages + other.pages };
  return { ...one, counters: one.counters + other.counters };
}
