/* AVX2: 8 nonces a step. It has no rotate: those by whole bytes are shuffles, the others take three operations. */
#if defined(__x86_64__)
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC target("avx2")
#endif
#include <immintrin.h>

#ifndef SEARCH
#define SEARCH search_avx2
#endif
#define V __m256i
#define LANES 8
#define SET1(word) _mm256_set1_epi32((int32_t)(word))
#define FIRST_LANES _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0)
#define ADD _mm256_add_epi32
#define XOR _mm256_xor_si256
#define XOR3(a, b, c) XOR(XOR(a, b), c)
#define SHIFTED(v, n) _mm256_or_si256(_mm256_srli_epi32(v, n), _mm256_slli_epi32(v, 32 - (n)))
#define SHUFFLED(v, ...) _mm256_shuffle_epi8(v, _mm256_setr_epi8(__VA_ARGS__, __VA_ARGS__))
#define ROR24(v) SHIFTED(v, 24)
#define ROR16(v) SHUFFLED(v, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13)
#define ROR12(v) SHIFTED(v, 12)
#define ROR8(v) SHUFFLED(v, 1, 2, 3, 0, 5, 6, 7, 4, 9, 10, 11, 8, 13, 14, 15, 12)
#define ROR7(v) SHIFTED(v, 7)
#define ROR1(v) SHIFTED(v, 1)
#define CLEAR_LANES(v, mask) \
  ((uint32_t)_mm256_movemask_ps( \
      _mm256_castsi256_ps(_mm256_cmpeq_epi32(_mm256_and_si256(v, mask), _mm256_setzero_si256()))))
#define ANY_CLEAR CLEAR_LANES
#include "kernel.h"

#if defined(__clang__)
#pragma clang attribute pop
#endif
#endif
