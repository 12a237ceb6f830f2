/** A work source says what to mine and takes solutions: today an HTTP node, later a pool, a fleet or a parent process. */

import type { Solution } from '../chain/verify.ts';
import type { Work } from '../chain/work.ts';
import type { Outcome } from './vocabulary.ts';

export type SourceUpdate =
  /**
   * Mine this from now on. Works are compared by identity: other work is a new object, and the same object again only
   * says that the source is within reach again.
   */
  | { readonly kind: 'work'; readonly work: Work }
  /** The work that was handed out last is worth nothing any more; other work follows. */
  | { readonly kind: 'stale'; readonly reason: 'new-cut' | 'solved' | 'expired' }
  /** The source is out of reach and keeps trying; work that it handed out before stays valid. */
  | { readonly kind: 'lost'; readonly reason: string };

/** What became of a solution. */
export interface Verdict {
  readonly outcome: Outcome;
  /** For people: the node's own words where it gave any. Empty for an accepted solution. */
  readonly reason: string;
}

export interface WorkSource {
  /** For people: a node's URL. */
  readonly name: string;
  /**
   * Yields until `stop`. Faults of the outside world are handled inside, by trying again, and never thrown. May be called
   * only once.
   */
  works(stop: AbortSignal): AsyncIterable<SourceUpdate>;
  /** Settles within the source's own time limits, or soon after `stop`; never throws. */
  submit(solution: Solution, stop: AbortSignal): Promise<Verdict>;
  /** The latest creation time that whoever gave the work surely accepts now: µs since the UNIX epoch. */
  latestTimeUs(work: Work): bigint;
  /**
   * Whether the source answers now, found out within a second or two. It is asked again and again where another source
   * could take over. A source that cannot tell does not have this method. Never throws.
   */
  answers?(stop: AbortSignal): Promise<boolean>;
}
