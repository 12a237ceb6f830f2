/** A work source says what to mine and takes solutions: an HTTP node, later a pool, a fleet or a parent process. */

import type { Solution } from '../chain/verify.ts';
import type { Work } from '../chain/work.ts';

export type SourceUpdate =
  /**
   * Mine this from now on. Works are told apart by identity: other work is a new object, and the same object again only
   * says that the source is within reach again.
   */
  | { readonly kind: 'work'; readonly work: Work }
  /** The work handed out last is worth nothing any more; another follows. */
  | { readonly kind: 'stale'; readonly reason: 'new cut' | 'solved' | 'expired' }
  /** The source is out of reach and tries on; work handed out before stays valid. */
  | { readonly kind: 'lost'; readonly reason: string };

export type Verdict = {
  /** `unknown`: the answer was lost, and asking again did not tell. */
  readonly verdict: 'accepted' | 'rejected' | 'stale' | 'unknown';
  /** For people: the node's own words where it gave any. */
  readonly reason: string;
};

export interface WorkSource {
  /** For people: a node's URL. */
  readonly name: string;
  /**
   * Yields until `stop`; faults of the outside world are retried inside and never thrown. May be called once.
   */
  works(stop: AbortSignal): AsyncIterable<SourceUpdate>;
  /** Settles within the source's own time limits, or soon after `stop`; never throws. */
  submit(solution: Solution, stop: AbortSignal): Promise<Verdict>;
  /** The latest creation time that the work's origin surely accepts now: µs since the UNIX epoch. */
  latestTimeUs(work: Work): bigint;
  /**
   * Whether the source answers now, within a second or two; asked again and again where another one could take over. A
   * source that cannot tell leaves this out. Never throws.
   */
  answers?(stop: AbortSignal): Promise<boolean>;
}
