/* AVX-512VL on 256-bit registers: 8 nonces a step, for chips that slow down or halve their ports with 512-bit ones. */
#if defined(__x86_64__)
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512vl"))), apply_to = function)
#else
#pragma GCC target("avx512f,avx512vl")
#endif
#include <immintrin.h>

#define SEARCH search_avx512vl
#define V __m256i
#define LANES 8
#define SET1(word) _mm256_set1_epi32((int32_t)(word))
#define FIRST_LANES _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0)
#define ADD _mm256_add_epi32
#define XOR _mm256_xor_si256
#define XOR3(a, b, c) _mm256_ternarylogic_epi32(a, b, c, 0x96)
#define ROR24(v) _mm256_ror_epi32(v, 24)
#define ROR16(v) _mm256_ror_epi32(v, 16)
#define ROR12(v) _mm256_ror_epi32(v, 12)
#define ROR8(v) _mm256_ror_epi32(v, 8)
#define ROR7(v) _mm256_ror_epi32(v, 7)
#define ROR1(v) _mm256_ror_epi32(v, 1)
#define CLEAR_LANES(v, mask) _mm256_testn_epi32_mask(v, mask)
#define ANY_CLEAR CLEAR_LANES
#include "kernel.h"

#if defined(__clang__)
#pragma clang attribute pop
#endif
#endif
