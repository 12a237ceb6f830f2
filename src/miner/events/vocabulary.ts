/** The closed lists of words in events, from which types, schemas and metrics are made. Imports nothing. */

/**
 * `starting` lasts until the first state is announced. A device that has failed is `reopening`. A device that is not
 * reopened in this run is `parked`.
 */
export const DEVICE_STATES = ['starting', 'ready', 'paused', 'reopening', 'parked'] as const;
export type DeviceState = (typeof DEVICE_STATES)[number];

export const ALARM_STATES = ['raised', 'cleared'] as const;
export type AlarmState = (typeof ALARM_STATES)[number];

/** A relay's answers to shares. */
export const SHARE_OUTCOMES = ['accepted', 'rejected', 'stale', 'duplicate'] as const;
export type ShareOutcome = (typeof SHARE_OUTCOMES)[number];

/** Stands for the workers of a relay beyond those that are listed. */
export const OTHER_WORKERS = '(others)';

/* Sources */

/**
 * `unknown`: the answer was lost, and asking again gave no result. `delivered`: the solution was passed on, and its
 * result is never reported.
 */
export const OUTCOMES = ['accepted', 'rejected', 'stale', 'unknown', 'delivered'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/**
 * `solved`: a solution was submitted. `expired`: the source accepts no more solutions. `cancelled`: the source revoked
 * the work.
 */
export const STALE_REASONS = ['new-cut', 'solved', 'expired', 'cancelled'] as const;
export type StaleReason = (typeof STALE_REASONS)[number];

/** A rig has sources of one kind. */
export const SOURCE_KINDS = ['node', 'pool', 'parent', 'fleet'] as const;
export type SourceKind = (typeof SOURCE_KINDS)[number];

/**
 * `connecting`: not yet known whether it gives work. `unhealthy`: its work is probably worth nothing, so it is used
 * only if no other source gives better work. `standby`: closed because a preferred source gives work.
 */
export const SOURCE_STATES = ['connecting', 'connected', 'unhealthy', 'lost', 'standby'] as const;
export type SourceState = (typeof SOURCE_STATES)[number];

/** End of the first sentence of a message about a source that is not tried again until a restart. */
export const LEFT = 'left until pickaxe is restarted';

export const SOURCE_NEWS = ['connected', 'lost', 'standby', 'unhealthy', 'healthy', 'warning', 'info'] as const;
export type SourceNews = (typeof SOURCE_NEWS)[number];

/** Why a chain is polled: its work is requested every few seconds, without relying on the update stream. */
export const POLL_REASONS = ['no-stream', 'missed-block'] as const;
export type PollReason = (typeof POLL_REASONS)[number];

export interface PolledChain {
  readonly chain: number;
  readonly reason: PollReason;
}
