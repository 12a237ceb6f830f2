/** The kinds of devices, and what can be wrong with one. A leaf. */

export const DEVICE_KINDS = ['cpu', 'gpu'] as const;
export type DeviceKind = (typeof DEVICE_KINDS)[number];

export const DEVICE_FAULTS = [
  /** There is no such device, or it cannot be used here. */
  'missing',
  /** It worked, or should, and does not answer. */
  'lost',
  /** It computes wrong hashes. */
  'wrong-hashes',
] as const;
export type DeviceFault = (typeof DEVICE_FAULTS)[number];
