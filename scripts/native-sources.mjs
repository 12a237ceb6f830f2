// What the native CPU kernels are compiled from, in native/: everything but the N-API face. The addon is built of them
// (scripts/build-native.mjs), and so is the driver that tests them alone (test/native/).
export const KERNEL_SOURCES = [
  'dispatch.c',
  'avx512x2.c',
  'avx512.c',
  'avx512vl.c',
  'avx2x2.c',
  'avx2.c',
  'sse41.c',
  'neonx2.c',
  'neon.c',
  'portable.c',
];
