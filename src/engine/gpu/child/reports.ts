/**
 * Joins reports before they go to the parent. A dispatch takes milliseconds, and a message costs both processes a tenth of a
 * millisecond, so consecutive ranges are reported as one. Two kinds of reports are sent at once, with all that wait: those
 * with a candidate, and the first one of a search, which shows how soon a new job is searched.
 */

import type { Range } from '../../../chain/nonce.ts';
import type { Clock } from '../../../system/clock.ts';
import type { Candidate } from '../../engine.ts';

/** Time between reports without candidates: short enough for a live hashrate, long enough to cost little. */
const REPORT_MS = 100;

export interface Report {
  /** The parent's number for the search. */
  readonly search: number;
  /** A range of one page. */
  readonly searched: Range;
  /** When the first dispatch of this range was submitted, on the system clock's `monotonicMs`. */
  readonly beganMs: number;
  readonly candidates: readonly Candidate[];
}

export class Reports {
  readonly #send: (report: Report) => void;
  readonly #clock: Clock;
  #waiting: Report | undefined;
  #timer: NodeJS.Timeout | undefined;
  #sentMs = Number.NEGATIVE_INFINITY;
  /** The search of the last report that was sent. */
  #sent: number | undefined;

  constructor(send: (report: Report) => void, clock: Clock) {
    this.#send = send;
    this.#clock = clock;
  }

  /** Adds the report of one dispatch. It is sent now or within REPORT_MS. */
  add(report: Report): void {
    if (this.#waiting && !continues(this.#waiting, report)) this.flush();
    this.#waiting = this.#waiting ? joined(this.#waiting, report) : report;
    const waitMs = this.#sentMs + REPORT_MS - this.#clock.monotonicMs();
    if (report.candidates.length > 0 || report.search !== this.#sent || waitMs <= 0) this.flush();
    // The last report must not wait for another one, which may never come.
    else this.#timer ??= setTimeout(() => this.flush(), waitMs);
  }

  /** Sends the waiting report. Call it before any other message about a search, and when there is nothing to search. */
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

function continues({ search, searched }: Report, next: Report): boolean {
  return (
    search === next.search &&
    searched.lane === next.searched.lane &&
    searched.page === next.searched.page &&
    searched.counter + searched.counters === next.searched.counter
  );
}

function joined({ search, searched, beganMs, candidates }: Report, next: Report): Report {
  return {
    search,
    searched: { ...searched, counters: searched.counters + next.searched.counters },
    beganMs,
    candidates: [...candidates, ...next.candidates],
  };
}
