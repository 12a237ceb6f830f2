/** The WorkSource interface, and what its users and implementations share. */

import { type Clock, systemClock } from '../../base/system/clock.ts';
import type { Solution } from '../../protocol/chain/verify.ts';
import { creationTimeOf, rolledCreationTime, type Work } from '../../protocol/chain/work.ts';
import type { Listener } from '../events/events.ts';
import type { Outcome, SourceKind, StaleReason } from '../events/vocabulary.ts';

export type SourceUpdate =
  /** Mine this work from now on. The same object again means only that the source can be reached again. */
  | { readonly kind: 'work'; readonly work: Work }
  /** These works are worthless: their solutions need not be submitted. Other work follows or has come already. */
  | { readonly kind: 'stale'; readonly works: readonly Work[]; readonly reason: StaleReason }
  /** Search nothing until the next work. Solutions of earlier works still count. */
  | { readonly kind: 'rest' }
  /** The source is out of reach and keeps trying. Its latest work stays valid. */
  | { readonly kind: 'lost'; readonly reason: string };

/** Takes an update at once. Must not throw. */
export type UpdateListener = (update: SourceUpdate) => void;

export interface Verdict {
  readonly outcome: Outcome;
  /** For people: the source's own words, if any. Empty for an accepted solution. */
  readonly reason: string;
  /** Name of the source that answered, if several are used as one. */
  readonly by?: string;
}

/**
 * Takes a source's state of health. `fault` follows the source's name in a sentence; undefined for a healthy source.
 * `news` is the same if there is more to say than that the source is healthy again.
 */
export type Judge = (fault: string | undefined, news?: string) => void;

export interface WorkSource {
  /** The source's name for people, such as a node's URL. */
  readonly name: string;
  /** The default is a node. */
  readonly kind?: SourceKind;
  /**
   * Calls the listener with each update until `stop`, and settles when the source has ended. Faults of the outside
   * world are not thrown: the source retries. May be called only once, unless the source is a SharedSource.
   */
  follow(listener: UpdateListener, stop: AbortSignal): Promise<void>;
  /** Submits a solution. Settles within the source's own time limits, or soon after `stop`. Never throws. */
  submit(solution: Solution, stop: AbortSignal): Promise<Verdict>;
  /** @returns the latest creation time that is surely valid for this work now, in µs since the UNIX epoch */
  latestTimeUs(work: Work): bigint;
  /** @returns the name of the source that gave the work. The default is `name`: only a source of several has others */
  nameOf?(work: Work): string;
  /**
   * Finds out within a second or two whether the source answers. Called repeatedly if another source could take over.
   * Never throws. By default a source answers.
   */
  answers?(stop: AbortSignal): Promise<boolean>;
  /**
   * Sets the function to call when the source finds that its work is probably worth nothing, and when that is over.
   * Called at most once, if another source could take over. By default the function is not called.
   */
  onHealth?(judge: Judge): void;
}

/** The network that the user has named: work of another one is not mined. */
export interface NamedNetwork {
  readonly name: string;
  /** @param header 286 bytes @returns the name of the header's network if it is surely another one */
  readonly otherThan: (header: Uint8Array) => string | undefined;
}

/** Everything that a source uses from outside. Each has a default. */
export interface SourceContext<Limits> {
  readonly clock?: Clock;
  /** Returns uniformly distributed numbers in [0, 1). */
  readonly random?: () => number;
  readonly emit?: Listener;
  readonly limits?: Partial<Limits>;
}

/** @param usual the default limits */
export function complete<Limits>(given: SourceContext<Limits>, usual: Limits) {
  const { clock = systemClock, random = Math.random, emit = () => {}, limits } = given;
  return { clock, random, emit, limits: { ...usual, ...limits } };
}

/**
 * How far a rolled time stays behind the node's clock. The known time of that clock is a lower bound already; the
 * margin is for nodes that compare the time with another node's clock, and for a clock that is set back by up to a
 * second (a leap second, a step by NTP), which shows only in the node's next answer. An older time costs nothing: a
 * block's time need only be later than its parent's (document 1, "Mining work bytes").
 */
const MARGIN_US = 1_500_000n;

/** @returns the latest valid creation time in µs since the UNIX epoch; the work's own if it may not be moved */
export function creationTimeFor(work: Work, source: Pick<WorkSource, 'latestTimeUs'>): bigint {
  const received = creationTimeOf(work.header);
  return work.rollTime ? rolledCreationTime(received, source.latestTimeUs(work), MARGIN_US) : received;
}

/** @returns a listener that gets nothing after `stop` */
export function listeningUntil(stop: AbortSignal, listener: UpdateListener): UpdateListener {
  return (update) => {
    if (!stop.aborted) listener(update);
  };
}
