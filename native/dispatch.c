#include "dispatch.h"

#if defined(__x86_64__)
search_function search_avx512x2, search_avx512, search_avx512vlx2, search_avx512vl;
search_function search_avx2x2long, search_avx2x2, search_avx2, search_sse41;
#elif defined(__aarch64__)
search_function search_neonx2, search_neon;
#endif
search_function search_portable;

uint32_t list_kernels(struct kernel kernels[MAX_KERNELS]) {
  uint32_t count = 0;
#if defined(__x86_64__)
  /* These tests also check that the operating system saves the registers (XCR0). */
  __builtin_cpu_init();
  kernels[count++] = (struct kernel){"avx512x2", search_avx512x2, !!__builtin_cpu_supports("avx512f")};
  kernels[count++] = (struct kernel){"avx512", search_avx512, !!__builtin_cpu_supports("avx512f")};
  kernels[count++] = (struct kernel){"avx512vlx2", search_avx512vlx2, !!__builtin_cpu_supports("avx512vl")};
  kernels[count++] = (struct kernel){"avx512vl", search_avx512vl, !!__builtin_cpu_supports("avx512vl")};
  kernels[count++] = (struct kernel){"avx2x2long", search_avx2x2long, !!__builtin_cpu_supports("avx2")};
  kernels[count++] = (struct kernel){"avx2x2", search_avx2x2, !!__builtin_cpu_supports("avx2")};
  kernels[count++] = (struct kernel){"avx2", search_avx2, !!__builtin_cpu_supports("avx2")};
  kernels[count++] = (struct kernel){"sse41", search_sse41, !!__builtin_cpu_supports("sse4.1")};
#elif defined(__aarch64__)
  kernels[count++] = (struct kernel){"neonx2", search_neonx2, 1};
  kernels[count++] = (struct kernel){"neon", search_neon, 1};
#endif
  kernels[count++] = (struct kernel){"portable", search_portable, 1};
  return count;
}
