/** Names of kinds of devices, faults, kinds of cores, CPU kernels and sensor readings. Imports nothing. */

export const DEVICE_KINDS = ['cpu', 'gpu'] as const;
export type DeviceKind = (typeof DEVICE_KINDS)[number];

export const DEVICE_FAULTS = [
  /** There is no such device, or it cannot be used here. */
  'missing',
  /** The device does not answer, although it should. */
  'lost',
  'wrong-hashes',
] as const;
export type DeviceFault = (typeof DEVICE_FAULTS)[number];

/** The kinds of a hybrid chip's cores, whose fastest kernels differ. All cores of other chips are alike. */
export const CORE_KINDS = ['performance', 'efficiency'] as const;
export type CoreKind = (typeof CORE_KINDS)[number];

export interface CoreInfo {
  readonly kind: CoreKind;
  readonly threads: number;
  readonly kernel: string;
}

/**
 * All CPU kernels, the usually fastest first. A native build has only the native kernels for its kind of chip. Kernels
 * with `x2` after the name of the instruction set search with pairs of vectors, which is much faster on some chips and
 * slower on others. With `long`, more instructions for one vector of a pair follow each other before those for the
 * other vector.
 */
export const KERNEL_NAMES = [
  'avx512x2',
  'avx512',
  'avx512vlx2',
  'avx512vl',
  'avx2x2long',
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

/* The readings of sensors, with the names of public JSON. A reading is absent if the system does not report it. */

export const TELEMETRY_FIELDS = [
  /** Temperature of the chip in °C: at its edge, or the mean. */
  'temperatureCelsius',
  /** Temperature of the junction, the hottest place of the chip, in °C. */
  'hotspotCelsius',
  /** Temperature of the memory in °C. */
  'memoryCelsius',
  /** Power in W: of the whole card if it is measured there, otherwise of the chip. */
  'powerWatts',
  /** Present limit of the card's power in W. */
  'powerLimitWatts',
  /** Fraction of the fan's full speed. NVIDIA's cards can report more than 1. */
  'fanRatio',
  'fanRpm',
  /** Clocks of the cores and of the memory in Hz. */
  'coreHertz',
  'memoryHertz',
] as const;
export type TelemetryField = (typeof TELEMETRY_FIELDS)[number];

export type Telemetry = { readonly [Field in TelemetryField]?: number };
