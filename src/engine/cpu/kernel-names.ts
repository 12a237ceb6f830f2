/** The names of the CPU kernels. This file imports nothing. */

/**
 * All kernels, the usually fastest first. The native kernels of a build are those for its kind of chip. Kernels whose
 * names end with x2 search with pairs of vectors, which is much faster on some chips and slower on others.
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
