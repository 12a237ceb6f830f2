/** The WorkSource interface, and what its users and implementations share. */

import { type Clock, systemClock } from '../../base/system/clock.ts';
import type { Solution } from '../../protocol/chain/verify.ts';
import { creationTimeOf, networkNumberOf, rolledCreationTime, type Work } from '../../protocol/chain/work.ts';
import { mayBeOf, networkOf } from '../../protocol/ledger/header.ts';
import type { Listener } from '../events/events.ts';
import type { Outcome, SourceKind, StaleReason } from '../events/vocabulary.ts';

export type SourceUpdate =
  /** The work to mine from now on. The same object as before means only that the source can be reached again. */
  | { readonly kind: 'work'; readonly work: Work }
  /** Works that are worthless now: their solutions need not be submitted. New work has come already or will follow. */
  | { readonly kind: 'stale'; readonly works: readonly Work[]; readonly reason: StaleReason }
  /** Nothing is to be searched until the next `work` update. Solutions of earlier works still count. */
  | { readonly kind: 'rest' }
  /** The source is out of reach, and tries to reach its server again. Its latest work stays valid. */
  | { readonly kind: 'lost'; readonly reason: string };

/** Handles an update synchronously. Must not throw. */
export type UpdateListener = (update: SourceUpdate) => void;

export interface Verdict {
  readonly outcome: Outcome;
  /**
   * The reason of the outcome, for people: the source's message, or what went wrong. Empty for an accepted solution.
   */
  readonly reason: string;
  /** Name of the source that answered, if the source that was called has passed the solution on to it. */
  readonly by?: string;
}

/**
 * Receives a source's state of health. Both parameters are words that follow the source's name in a sentence.
 * @param fault why the source's work is probably worth nothing; undefined for a healthy source
 * @param news what has changed about a healthy source; absent if it has only become healthy again
 */
export type Judge = (fault: string | undefined, news?: string) => void;

export interface WorkSource {
  /** The source's name for people, such as a node's URL. */
  readonly name: string;
  /** Default: `node`. */
  readonly kind?: SourceKind;
  /**
   * Calls the listener with each update until `stop`, and settles when the source has ended. Faults of the outside
   * world are not thrown: the source retries. May be called only once, unless a source allows more, as SharedSource and
   * PoolSource do.
   */
  follow(listener: UpdateListener, stop: AbortSignal): Promise<void>;
  /** Submits a solution. Settles within the source's own time limits, or soon after `stop`. Never throws. */
  submit(solution: Solution, stop: AbortSignal): Promise<Verdict>;
  /** @returns the latest creation time that is surely valid for this work now, in µs since the UNIX epoch */
  latestTimeUs(work: Work): bigint;
  /**
   * @returns the name of the source that gave the work. By default this is `name`; only a source that combines several
   *   sources, such as failover, returns other names
   */
  nameOf?(work: Work): string;
  /**
   * Finds out within a second or two whether the source answers. Called repeatedly if another source could take over.
   * Never throws. A source without this member counts as one that answers.
   */
  answers?(stop: AbortSignal): Promise<boolean>;
  /**
   * Sets the function that the source calls when its health has changed. `onHealth` is called at most once, and only if
   * somebody acts on a fault. A source without this member never reports a fault.
   */
  onHealth?(judge: Judge): void;
}

/**
 * The network that the user has named for pools or coordinators. Pools and coordinators choose the network of their
 * works themselves. Work that is surely of another network is not mined.
 */
export interface NamedNetwork {
  readonly name: string;
  /** @param header 286 bytes @returns the name of the header's network if that is surely another one, or undefined */
  readonly otherThan: (header: Uint8Array) => string | undefined;
}

/** @param name as configured @returns undefined without a name */
export function namedNetwork(name: string | undefined): NamedNetwork | undefined {
  if (name === undefined) return undefined;
  const otherThan = (header: Uint8Array) => {
    const code = networkNumberOf(header);
    return mayBeOf(name, code) ? undefined : networkOf(code);
  };
  return { name, otherThan };
}

/** What a source uses from outside. Each member has a default. */
export interface SourceContext<Limits> {
  readonly clock?: Clock;
  /** Returns uniformly distributed numbers in [0, 1). */
  readonly random?: () => number;
  readonly emit?: Listener;
  readonly limits?: Partial<Limits>;
}

/** Fills in the defaults. @param usual the default limits */
export function complete<Limits>(given: SourceContext<Limits>, usual: Limits) {
  const { clock = systemClock, random = Math.random, emit = () => {}, limits } = given;
  return { clock, random, emit, limits: { ...usual, ...limits } };
}

/**
 * How far a rolled creation time stays behind the latest time that the node's clock has surely reached. The margin
 * covers two cases. Other nodes also check the time, and their clocks may be a little behind. And the node's clock may
 * be set back by up to a second (a leap second, a step by NTP), which only its next answer shows. An older time costs
 * nothing, because a block's time need only be later than its parent's (document 1, "Mining work bytes").
 */
const MARGIN_US = 1_500_000n;

/**
 * @returns the creation time to search with, in µs since the UNIX epoch: `MARGIN_US` before the source's latest time,
 *   or the work's own time if that is later or must not be changed
 */
export function creationTimeFor(work: Work, source: Pick<WorkSource, 'latestTimeUs'>): bigint {
  const received = creationTimeOf(work.header);
  return work.rollTime ? rolledCreationTime(received, source.latestTimeUs(work), MARGIN_US) : received;
}

/** @returns a listener that passes updates on until `stop` */
export function listeningUntil(stop: AbortSignal, listener: UpdateListener): UpdateListener {
  return (update) => {
    if (!stop.aborted) listener(update);
  };
}
