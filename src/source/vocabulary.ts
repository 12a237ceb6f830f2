/** The closed lists of words about sources, each in this one place: types, schemas and metrics are made from them. A leaf. */

/** What became of a solution. `unknown`: the answer was lost, and asking again did not tell. */
export const OUTCOMES = ['accepted', 'rejected', 'stale', 'unknown'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** Whether a source gives work. It is `connecting` until that is known for the first time. */
export const SOURCE_STATES = ['connecting', 'connected', 'lost'] as const;
export type SourceState = (typeof SOURCE_STATES)[number];

/** What is told of a source: whether it is within reach, and what people should know of it besides. */
export const SOURCE_NEWS = ['connected', 'lost', 'warning', 'info'] as const;
export type SourceNews = (typeof SOURCE_NEWS)[number];

/** Why work on a chain is asked for every few seconds, instead of waiting for its update stream. */
export const POLL_REASONS = ['no-stream', 'missed-block'] as const;
export type PollReason = (typeof POLL_REASONS)[number];

/** A chain that is polled. */
export interface PolledChain {
  readonly chain: number;
  readonly reason: PollReason;
}
