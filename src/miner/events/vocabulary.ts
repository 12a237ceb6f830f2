/**
 * The closed lists of the words that events use. Types, schemas and metrics are made from these lists. Imports nothing.
 */

/**
 * States of a device. `starting`: no other state has been reported yet. `reopening`: the device has failed and will be
 * opened again. `parked`: the device has failed and is not opened again in this run.
 */
export const DEVICE_STATES = ['starting', 'ready', 'paused', 'reopening', 'parked'] as const;
export type DeviceState = (typeof DEVICE_STATES)[number];

export const ALARM_STATES = ['raised', 'cleared'] as const;
export type AlarmState = (typeof ALARM_STATES)[number];

/** A relay's answers to shares. */
export const SHARE_OUTCOMES = ['accepted', 'rejected', 'stale', 'duplicate'] as const;
export type ShareOutcome = (typeof SHARE_OUTCOMES)[number];

/** The name under which a relay sums up the workers that it does not list by their own names. */
export const OTHER_WORKERS = '(others)';

/* Sources */

/**
 * Outcomes of a submission. `unknown`: no clear answer came, for example because the answer was lost. `delivered`: the
 * solution was passed on to a receiver that never reports a result.
 */
export const OUTCOMES = ['accepted', 'rejected', 'stale', 'unknown', 'delivered'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/**
 * Why a work is stale. `new-cut`: the chain of the work has a new block. `solved`: a solution of the work was
 * submitted. `expired`: the source accepts no more solutions of the work. `cancelled`: the source revoked the work.
 */
export const STALE_REASONS = ['new-cut', 'solved', 'expired', 'cancelled'] as const;
export type StaleReason = (typeof STALE_REASONS)[number];

/** All sources of a rig are of the same kind. */
export const SOURCE_KINDS = ['node', 'pool', 'parent', 'fleet'] as const;
export type SourceKind = (typeof SOURCE_KINDS)[number];

/**
 * States of a source. `connecting`: it is not yet known whether the source gives work. `unhealthy`: the source's work
 * is probably worth nothing, so the source is used only if no other source gives better work. `standby`: the source is
 * closed, because a preferred source gives work or because the source is no longer configured.
 */
export const SOURCE_STATES = ['connecting', 'connected', 'unhealthy', 'lost', 'standby'] as const;
export type SourceState = (typeof SOURCE_STATES)[number];

/**
 * The end of a source's reason if the source is not used again until a restart. A message about an outage then does not
 * say that the source is tried again.
 */
export const LEFT = 'left until pickaxe is restarted';

export const SOURCE_NEWS = ['connected', 'lost', 'standby', 'unhealthy', 'healthy', 'warning', 'info'] as const;
export type SourceNews = (typeof SOURCE_NEWS)[number];

/**
 * Why a chain is polled. Work of a polled chain is requested every few seconds, whatever its update stream announces.
 * `no-stream`: no update stream of the chain is open. `missed-block`: the stream did not announce a block, or the
 * stream is not trusted because the stream of another chain did not announce a block.
 */
export const POLL_REASONS = ['no-stream', 'missed-block'] as const;
export type PollReason = (typeof POLL_REASONS)[number];

export interface PolledChain {
  readonly chain: number;
  readonly reason: PollReason;
}
