/** The kinds of devices, and their kinds of faults. This file imports nothing. */

export const DEVICE_KINDS = ['cpu', 'gpu'] as const;
export type DeviceKind = (typeof DEVICE_KINDS)[number];

export const DEVICE_FAULTS = [
  /** There is no such device, or it cannot be used here. */
  'missing',
  /** The device does not answer, though it did before or should. */
  'lost',
  /** The device computes wrong hashes. */
  'wrong-hashes',
] as const;
export type DeviceFault = (typeof DEVICE_FAULTS)[number];
