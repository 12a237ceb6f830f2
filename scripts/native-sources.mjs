// What the native CPU kernels are compiled from, in native/: everything but the N-API face. The addon is built of them
// (scripts/build-native.mjs), and so is the driver that tests them alone (test/native/).
export const KERNEL_SOURCES = [
  'dispatch',
  'avx512x2',
  'avx512',
  'avx512vl',
  'avx2x2',
  'avx2',
  'sse41',
  'neonx2',
  'neon',
  'portable',
];
