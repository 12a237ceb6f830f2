/**
 * Reports on their way to the parent. A dispatch takes milliseconds and a message costs both processes a tenth of one, so
 * ranges that follow each other are reported as one. A candidate goes at once, with all before it, and so does the first
 * range of a search, which tells how soon a new job is searched.
 */

import type { Range } from '../../../chain/nonce.ts';
import type { Clock } from '../../../system/clock.ts';
import type { Candidate } from '../../engine.ts';

/** Time between reports of mere progress. Short enough for a live hashrate, long enough for the processor. */
const REPORT_MS = 100;

export interface Report {
  readonly search: number;
  /** Counters of one lane and page. */
  readonly searched: Range;
  /** When its first dispatch was submitted. */
  readonly beganMs: number;
  readonly candidates: readonly Candidate[];
}

export class Reports {
  readonly #send: (report: Report) => void;
  readonly #clock: Clock;
  #waiting: Report | undefined;
  #timer: NodeJS.Timeout | undefined;
  #sentMs = Number.NEGATIVE_INFINITY;
  /** The search that was reported on last. */
  #sent: number | undefined;

  constructor(send: (report: Report) => void, clock: Clock) {
    this.#send = send;
    this.#clock = clock;
  }

  /** Takes what one dispatch searched; it goes out now or within REPORT_MS. */
  add(report: Report): void {
    if (this.#waiting && !continues(this.#waiting, report)) this.flush();
    this.#waiting = this.#waiting ? joined(this.#waiting, report) : report;
    const waitMs = this.#sentMs + REPORT_MS - this.#clock.monotonicMs();
    if (report.candidates.length > 0 || report.search !== this.#sent || waitMs <= 0) this.flush();
    // Dispatches may come to an end: the last report must not wait for another.
    else this.#timer ??= setTimeout(() => this.flush(), waitMs);
  }

  /** Sends the report that waits: to be called before any other message about a search, and when there is no work. */
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
