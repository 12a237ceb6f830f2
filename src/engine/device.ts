/**
 * The names of kinds of devices, of faults, of kinds of cores, of CPU kernels and of sensor readings. It imports
 * nothing.
 */

export const DEVICE_KINDS = ['cpu', 'gpu'] as const;
export type DeviceKind = (typeof DEVICE_KINDS)[number];

export const DEVICE_FAULTS = [
  /** There is no such device, or it cannot be used here. */
  'missing',
  /** The device does not answer, although it should. */
  'lost',
  /** The device computes wrong hashes. */
  'wrong-hashes',
] as const;
export type DeviceFault = (typeof DEVICE_FAULTS)[number];

/**
 * The kinds of a hybrid chip's cores. They do different amounts of work in a cycle, so their fastest kernels differ.
 * Chips whose cores are alike have none of these kinds.
 */
export const CORE_KINDS = ['performance', 'efficiency'] as const;
export type CoreKind = (typeof CORE_KINDS)[number];

/** The threads and the kernel on one kind of cores. */
export interface CoreInfo {
  readonly kind: CoreKind;
  /** Number of threads. */
  readonly threads: number;
  readonly kernel: string;
}

/**
 * All CPU kernels, the usually fastest first. A native build has only those for its kind of chip. Kernels whose names
 * end with x2 search with pairs of vectors, which is much faster on some chips and slower on others.
 */
export const KERNEL_NAMES = [
  'avx512x2',
  'avx512',
  'avx512vlx2',
  'avx512vl',
  'avx2x2',
  'avx2',
  'sse41',
  'neonx2',
  'neon',
  'portable',
  'wasm-simdx2',
  'wasm-simd',
  'wasm',
] as const;
export type KernelName = (typeof KERNEL_NAMES)[number];

/* The readings of a device's sensors. Public JSON has the same names. */

export const TELEMETRY_FIELDS = [
  /** The temperature of the chip in °C: at its edge, or the mean. */
  'temperatureCelsius',
  /** The temperature of the chip's hottest place, the junction, in °C. */
  'hotspotCelsius',
  /** The temperature of the memory in °C. */
  'memoryCelsius',
  /** The power in W: of the whole card if it is measured there, otherwise of the chip. */
  'powerWatts',
  /** The present limit of the card's power in W. */
  'powerLimitWatts',
  /** The speed of the fan as a fraction of its full speed. NVIDIA's cards can report more than 1. */
  'fanRatio',
  'fanRpm',
  /** Clock rates of the chip's cores and of the memory in Hz. */
  'coreHertz',
  'memoryHertz',
] as const;
export type TelemetryField = (typeof TELEMETRY_FIELDS)[number];

/** A field is absent when the system does not report it. */
export type Telemetry = { readonly [Field in TelemetryField]?: number };
