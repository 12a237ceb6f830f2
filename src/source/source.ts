/**
 * The WorkSource interface. A source gives work and accepts solutions: a node, a pool, or the process that started this
 * one.
 */

import type { Solution } from '../chain/verify.ts';
import { creationTimeOf, rolledCreationTime, type Work } from '../chain/work.ts';
import type { Listener } from '../events/events.ts';
import { onAbort } from '../system/abort.ts';
import { type Clock, systemClock } from '../system/clock.ts';
import type { Outcome, SourceKind, StaleReason } from './vocabulary.ts';

export type SourceUpdate =
  /**
   * Mine this work from now on. Work is compared by identity: new work is a new object. The same object again only
   * means that the source is within reach again.
   */
  | { readonly kind: 'work'; readonly work: Work }
  /**
   * These works are worthless now, and solutions of them need not be submitted. Other work will follow, or has come
   * already.
   */
  | { readonly kind: 'stale'; readonly works: readonly Work[]; readonly reason: StaleReason }
  /** Search nothing until the next work. Solutions of earlier works still count. */
  | { readonly kind: 'rest' }
  /** The source is out of reach and keeps trying. Its latest work stays valid. */
  | { readonly kind: 'lost'; readonly reason: string };

/** The result of a submission. */
export interface Verdict {
  readonly outcome: Outcome;
  /** For people: the source's own words, if there are any. Empty for an accepted solution. */
  readonly reason: string;
  /** The name of the source that gave it, where several are used as one. */
  readonly by?: string;
}

/**
 * Takes what is known of a source's health. `fault` follows the source's name in a sentence; undefined when the source
 * is as good as others, so far as is known. `news` does the same where there is more to say than that it is healthy
 * again.
 */
export type Judge = (fault: string | undefined, news?: string) => void;

export interface WorkSource {
  /** The source's name for people, such as a node's URL. */
  readonly name: string;
  /** Absent for a node. */
  readonly kind?: SourceKind;
  /**
   * Yields updates until `stop`. Faults of the outside world are not thrown: the source tries again. May be called only
   * once, unless the source is a SharedSource.
   */
  updates(stop: AbortSignal): AsyncIterable<SourceUpdate>;
  /** Submits a solution. Settles within the source's own time limits, or soon after `stop`. Never throws. */
  submit(solution: Solution, stop: AbortSignal): Promise<Verdict>;
  /** @returns the latest creation time that is surely valid for this work now: µs since the UNIX epoch */
  latestTimeUs(work: Work): bigint;
  /** @returns the name of the source that gave the work. Only a source that uses several as one has this method */
  nameOf?(work: Work): string;
  /**
   * Finds out within a second or two whether the source answers. It is called again and again when another source could
   * take over. A source that cannot find out does not have this method. Never throws.
   */
  answers?(stop: AbortSignal): Promise<boolean>;
  /**
   * Sets who is told when the source finds out that its work, which goes on, is probably worth nothing, and when that
   * is over. Called at most once, when another source could take over. A source that cannot find out does not have this
   * method.
   */
  onHealth?(judge: Judge): void;
}

/* What sources use from outside, with its defaults. */

/** Everything that a source uses from outside. Each has a default. */
export interface SourceContext<Limits> {
  readonly clock?: Clock;
  /** Returns uniformly distributed numbers in [0, 1). */
  readonly random?: () => number;
  readonly emit?: Listener;
  readonly limits?: Partial<Limits>;
}

/** @param usual the limits, where none are given */
export function complete<Limits>(given: SourceContext<Limits>, usual: Limits) {
  const { clock = systemClock, random = Math.random, emit = () => {}, limits } = given;
  return { clock, random, emit, limits: { ...usual, ...limits } };
}

/* The creation time of a work's next job. */

/**
 * How far a rolled time stays behind the node's clock. What is known of that clock is a lower bound already; the margin
 * is for nodes that compare the time with another node's clock.
 */
const MARGIN_US = 500_000n;

/**
 * @returns the latest creation time that is surely valid, in µs since the UNIX epoch; the work's own where it may not
 *   be moved
 */
export function creationTimeFor(work: Work, source: Pick<WorkSource, 'latestTimeUs'>): bigint {
  const received = creationTimeOf(work.header);
  return work.rollTime ? rolledCreationTime(received, source.latestTimeUs(work), MARGIN_US) : received;
}

/*
 * Holds the updates of a source until its listener takes them. Work that later work or a rest replaces is dropped, and
 * so is a rest that work replaces. So at most one of these, the works that have become stale, and one update about the
 * source wait here.
 */

type StaleUpdate = Extract<SourceUpdate, { kind: 'stale' }>;

export class Mailbox {
  #stale: StaleUpdate | undefined;
  #work: SourceUpdate | undefined;
  #lost: SourceUpdate | undefined;
  #fault: { readonly thrown: unknown } | undefined;
  #wake: () => void = () => {};

  put(update: SourceUpdate): void {
    if (update.kind === 'work') {
      this.#work = update;
      // A source that gives work is within reach again.
      this.#lost = undefined;
    } else if (update.kind === 'rest') {
      this.#work = update;
    } else if (update.kind === 'stale') {
      this.#addStale(update);
    } else {
      this.#lost = update;
    }
    this.#wake();
  }

  /** Passes on what the source has thrown, which ends its updates. Only the first fault counts. */
  fail(thrown: unknown): void {
    this.#fault ??= { thrown };
    this.#wake();
  }

  /**
   * Yields the updates, until `stop`: first what is stale, then the work. Only one listener may use it.
   * @throws what the source has thrown, once the updates before it are taken
   */
  async *updates(stop: AbortSignal): AsyncGenerator<SourceUpdate, void> {
    const release = onAbort(stop, () => this.#wake());
    try {
      while (!stop.aborted) {
        const update = this.#take();
        if (update) yield update;
        else if (this.#fault) throw this.#fault.thrown;
        else
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
      }
    } finally {
      release();
    }
  }

  #addStale({ works, reason }: StaleUpdate): void {
    const waiting = this.#stale?.works ?? [];
    this.#stale = { kind: 'stale', works: [...waiting, ...works], reason };
    if (this.#work?.kind === 'work' && works.includes(this.#work.work)) this.#work = undefined;
  }

  #take(): SourceUpdate | undefined {
    const update = this.#stale ?? this.#work ?? this.#lost;
    if (update === this.#stale) this.#stale = undefined;
    else if (update === this.#work) this.#work = undefined;
    else this.#lost = undefined;
    return update;
  }
}
