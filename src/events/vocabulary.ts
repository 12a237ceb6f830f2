/** The closed lists of words in events, each in this one place: types, schemas and metrics are made from them. This file imports nothing. */

/**
 * A device is `starting` until the miner first announces another state. `reopening`: it has failed and will be opened again.
 * `parked`: it will not be used again in this run.
 */
export const DEVICE_STATES = ['starting', 'ready', 'paused', 'reopening', 'parked'] as const;
export type DeviceState = (typeof DEVICE_STATES)[number];

export const ALARM_STATES = ['raised', 'cleared'] as const;
export type AlarmState = (typeof ALARM_STATES)[number];

/** What can become of a worker's share at a relay. */
export const SHARE_OUTCOMES = ['accepted', 'rejected', 'stale', 'duplicate'] as const;
export type ShareOutcome = (typeof SHARE_OUTCOMES)[number];

/** The name that sums up a relay's workers beyond those that are listed by their own names. */
export const OTHER_WORKERS = '(others)';
