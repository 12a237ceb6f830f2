/** The kinds of devices, of a CPU's cores, and of devices' faults. This file imports nothing. */

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

/**
 * The kinds of a hybrid chip's cores. They differ in what they do in a cycle, so their fastest kernels differ. Chips whose
 * cores are alike have none of these kinds.
 */
export const CORE_KINDS = ['performance', 'efficiency'] as const;
export type CoreKind = (typeof CORE_KINDS)[number];

/** What hashes on one kind of cores. */
export interface CoreInfo {
  readonly kind: CoreKind;
  /** How many threads. */
  readonly threads: number;
  readonly kernel: string;
}
