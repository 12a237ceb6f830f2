/** The closed lists of words in events, from which types, schemas and metrics are made. Imports nothing. */

/**
 * `starting` lasts until the first state that is announced. A device that has failed is `reopening`, and one that is
 * given up for this run is `parked`.
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

/** `unknown`: the answer was lost, and asking again gave no result. `delivered`: the result is never reported. */
export const OUTCOMES = ['accepted', 'rejected', 'stale', 'unknown', 'delivered'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** `solved`: a solution was submitted. `expired`: the source has forgotten the works. `cancelled`: it revoked them. */
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

/** The end of the first sentence about a source that is lost for good, and not tried again. */
export const LEFT = 'left until pickaxe is restarted';

export const SOURCE_NEWS = ['connected', 'lost', 'standby', 'unhealthy', 'healthy', 'warning', 'info'] as const;
export type SourceNews = (typeof SOURCE_NEWS)[number];

/** Why a chain is polled: work is asked for every few seconds, without relying on its update stream. */
export const POLL_REASONS = ['no-stream', 'missed-block'] as const;
export type PollReason = (typeof POLL_REASONS)[number];

export interface PolledChain {
  readonly chain: number;
  readonly reason: PollReason;
}
