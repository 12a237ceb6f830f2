/** The states of a device. The event, the API's schema and the metrics are made from this list. This file imports nothing. */

/**
 * A device is `starting` until the miner first announces another state. `restarting`: it has failed and will be reopened.
 * `parked`: it will not be used again in this run.
 */
export const DEVICE_STATES = ['starting', 'ready', 'paused', 'restarting', 'parked'] as const;
export type DeviceState = (typeof DEVICE_STATES)[number];
