/* AVX-512F: 16 nonces a step. */
#if defined(__x86_64__)
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f"))), apply_to = function)
#else
#pragma GCC target("avx512f")
#endif
#include <immintrin.h>

#ifndef SEARCH
#define SEARCH search_avx512
#endif
#define V __m512i
#define LANES 16
#define SET1(word) _mm512_set1_epi32((int32_t)(word))
#define FIRST_LANES _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define ADD _mm512_add_epi32
#define XOR _mm512_xor_si512
#define XOR3(a, b, c) _mm512_ternarylogic_epi32(a, b, c, 0x96)
/* A byte shuffle for the rotates by 16 and 8 gains nothing here: both use the same port. */
#define ROR24(v) _mm512_ror_epi32(v, 24)
#define ROR16(v) _mm512_ror_epi32(v, 16)
#define ROR12(v) _mm512_ror_epi32(v, 12)
#define ROR8(v) _mm512_ror_epi32(v, 8)
#define ROR7(v) _mm512_ror_epi32(v, 7)
#define ROR1(v) _mm512_ror_epi32(v, 1)
#define CLEAR_LANES(v, mask) _mm512_testn_epi32_mask(v, mask)
#define ANY_CLEAR CLEAR_LANES
#include "kernel.h"

#if defined(__clang__)
#pragma clang attribute pop
#endif
#endif
