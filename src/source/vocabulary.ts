/** Closed lists of words about sources. Types, schemas and metrics are made from them. This file imports nothing. */

/**
 * The results of a submission. `unknown`: the answer was lost, and asking again gave no clear result. `delivered`: it
 * was handed to a process that never says what becomes of it.
 */
export const OUTCOMES = ['accepted', 'rejected', 'stale', 'unknown', 'delivered'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/**
 * Why works are stale. `solved`: a solution of one of them was submitted. `expired`: the source no longer knows them.
 * `cancelled`: it wants them no longer.
 */
export const STALE_REASONS = ['new-cut', 'solved', 'expired', 'cancelled'] as const;
export type StaleReason = (typeof STALE_REASONS)[number];

/** What a source is. A rig has sources of one kind. */
export const SOURCE_KINDS = ['node', 'pool', 'parent'] as const;
export type SourceKind = (typeof SOURCE_KINDS)[number];

/**
 * The states of a source: whether it gives work. It is `connecting` until that is first known, `unhealthy` while it
 * gives work that is probably worth nothing, so that it is used only if no other source gives better, and on `standby`
 * when its connection was closed because a preferred source gives work.
 */
export const SOURCE_STATES = ['connecting', 'connected', 'unhealthy', 'lost', 'standby'] as const;
export type SourceState = (typeof SOURCE_STATES)[number];

/** The end of the first sentence about a source that is lost for good, and not tried again. */
export const LEFT = 'left until pickaxe is restarted';

/**
 * The kinds of news about a source: whether it can be reached, is needed or is healthy, and what else people should
 * know.
 */
export const SOURCE_NEWS = ['connected', 'lost', 'standby', 'unhealthy', 'healthy', 'warning', 'info'] as const;
export type SourceNews = (typeof SOURCE_NEWS)[number];

/** The reasons for polling: asking for work on a chain every few seconds, instead of relying on its update stream. */
export const POLL_REASONS = ['no-stream', 'missed-block'] as const;
export type PollReason = (typeof POLL_REASONS)[number];

/** A chain that is polled. */
export interface PolledChain {
  readonly chain: number;
  readonly reason: PollReason;
}
