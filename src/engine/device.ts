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
 * The kinds of a hybrid chip's cores. They differ in what they do in a cycle, so their fastest kernels differ. Chips
 * whose cores are alike have none of these kinds.
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

/*
 * The readings of a device's sensors; public JSON has the same names. This file imports nothing, so that all rooms may
 * use it.
 */

export const TELEMETRY_FIELDS = [
  /** The temperature of the chip in °C: at its edge, or the mean. */
  'temperatureCelsius',
  /** The temperature of the chip's hottest place, the junction, in °C. */
  'hotspotCelsius',
  /** The temperature of the memory in °C. */
  'memoryCelsius',
  /** The power in W: of the whole card if it is measured there, otherwise of the chip. */
  'powerWatts',
  /** The power that the card is allowed to draw at present. */
  'powerLimitWatts',
  /** The speed of the fan as a part of its full speed. NVIDIA's cards can report more than 1. */
  'fanRatio',
  'fanRpm',
  /** Clock rates of the chip's cores and of the memory. */
  'coreHertz',
  'memoryHertz',
] as const;
export type TelemetryField = (typeof TELEMETRY_FIELDS)[number];

/** A field is absent when the system does not report it. */
export type Telemetry = { readonly [Field in TelemetryField]?: number };
