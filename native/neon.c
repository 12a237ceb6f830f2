/* NEON, which every 64-bit ARM chip has: 4 nonces a step. */
#if defined(__aarch64__)
#include <arm_neon.h>

#ifndef SEARCH
#define SEARCH search_neon
#endif
#define V uint32x4_t
#define LANES 4
#define SET1(word) vdupq_n_u32(word)
#define ADD vaddq_u32
#define XOR veorq_u32
#define XOR3(a, b, c) XOR(XOR(a, b), c)
#define SHIFTED(v, n) vsriq_n_u32(vshlq_n_u32(v, 32 - (n)), v, n)
#define ROR24(v) SHIFTED(v, 24)
#define ROR16(v) vreinterpretq_u32_u16(vrev32q_u16(vreinterpretq_u16_u32(v)))
#define ROR12(v) SHIFTED(v, 12)
#define ROR8(v) SHIFTED(v, 8)
#define ROR7(v) SHIFTED(v, 7)
#define ROR1(v) SHIFTED(v, 1)
#define ANY_CLEAR(v, mask) (vminvq_u32(vtstq_u32(v, mask)) == 0)
static inline uint32_t clear_lanes(uint32x4_t v, uint32x4_t mask) {
  const uint32_t bits[LANES] = {1, 2, 4, 8};
  return vaddvq_u32(vbicq_u32(vld1q_u32(bits), vtstq_u32(v, mask)));
}
#define CLEAR_LANES clear_lanes
#include "kernel.h"
#endif
