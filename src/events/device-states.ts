/** The states of a device. A leaf: the event, the API's schema and the metrics are made from this list. */

/**
 * A device is `starting` until the miner first announces another state. `restarting`: it failed and is to be opened again.
 * `parked`: it is given up for this run.
 */
export const DEVICE_STATES = ['starting', 'ready', 'paused', 'restarting', 'parked'] as const;
export type DeviceState = (typeof DEVICE_STATES)[number];
