/* SSE4.1 (with SSSE3's byte shuffle): 4 nonces a step. */
#if defined(__x86_64__)
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("sse4.1"))), apply_to = function)
#else
#pragma GCC target("sse4.1")
#endif
#include <smmintrin.h>

#define SEARCH search_sse41
#define V __m128i
#define LANES 4
#define SET1(word) _mm_set1_epi32((int32_t)(word))
#define ADD _mm_add_epi32
#define XOR _mm_xor_si128
#define XOR3(a, b, c) XOR(XOR(a, b), c)
#define SHIFTED(v, n) _mm_or_si128(_mm_srli_epi32(v, n), _mm_slli_epi32(v, 32 - (n)))
#define ROR24(v) SHIFTED(v, 24)
#define ROR16(v) _mm_shuffle_epi8(v, _mm_setr_epi8(2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13))
#define ROR12(v) SHIFTED(v, 12)
#define ROR8(v) _mm_shuffle_epi8(v, _mm_setr_epi8(1, 2, 3, 0, 5, 6, 7, 4, 9, 10, 11, 8, 13, 14, 15, 12))
#define ROR7(v) SHIFTED(v, 7)
#define ROR1(v) SHIFTED(v, 1)
#define CLEAR_LANES(v, mask) \
  ((uint32_t)_mm_movemask_ps(_mm_castsi128_ps(_mm_cmpeq_epi32(_mm_and_si128(v, mask), _mm_setzero_si128()))))
#define ANY_CLEAR(v, mask) CLEAR_LANES(v, mask)
#include "kernel.h"

#if defined(__clang__)
#pragma clang attribute pop
#endif
#endif
