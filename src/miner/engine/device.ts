/** The names of device kinds, device faults, core kinds, CPU kernels and sensor readings. This file imports nothing. */

export const DEVICE_KINDS = ['cpu', 'gpu'] as const;
export type DeviceKind = (typeof DEVICE_KINDS)[number];

export const DEVICE_FAULTS = [
  /** The device does not exist, or cannot be used here. */
  'missing',
  /** The device has failed or does not answer. Opening it again may help. */
  'lost',
  /** The device has failed a test with known answers, or has reported nonces whose hashes do not meet the target. */
  'wrong-hashes',
] as const;
export type DeviceFault = (typeof DEVICE_FAULTS)[number];

/**
 * The kinds of cores of a hybrid chip. The fastest kernel can differ between the kinds. Cores of other chips have no
 * kind.
 */
export const CORE_KINDS = ['performance', 'efficiency'] as const;
export type CoreKind = (typeof CORE_KINDS)[number];

export interface CoreInfo {
  readonly kind: CoreKind;
  readonly threads: number;
  readonly kernel: string;
}

/**
 * The names of all CPU kernels, ordered by their usual speed, fastest first. The last three are WebAssembly, and the
 * others are native. A build of the native addon contains only the kernels for its architecture, and `portable`.
 *
 * A kernel with `x2` after the name of the instruction set computes with pairs of vectors, which is much faster on some
 * chips and slower on others. With `long`, a longer sequence of instructions for one vector of the pair comes before
 * the instructions for the other vector.
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

/* The names of sensor readings, which public JSON uses, too. A reading is absent if the system does not report it. */

export const TELEMETRY_FIELDS = [
  /** Temperature of the chip in °C. The driver decides at which place of the chip it is measured. */
  'temperatureCelsius',
  /** Temperature of the junction, the hottest place of the chip, in °C. */
  'hotspotCelsius',
  /** Temperature of the memory in °C. */
  'memoryCelsius',
  /**
   * Power in W: of the whole card if the driver reports it, otherwise of the chip. For a CPU, it is the sum of all
   * packages.
   */
  'powerWatts',
  /** Power limit of the card in W, as it is set at present. */
  'powerLimitWatts',
  /** Speed of the fan as a fraction of its full speed. NVIDIA's cards can report more than 1. */
  'fanRatio',
  /** Speed of the fan in revolutions per minute. */
  'fanRpm',
  /** Clock of the cores in Hz. For a CPU, it is the mean of the busy CPUs. */
  'coreHertz',
  /** Clock of the memory in Hz. */
  'memoryHertz',
] as const;
export type TelemetryField = (typeof TELEMETRY_FIELDS)[number];

export type Telemetry = { readonly [Field in TelemetryField]?: number };
