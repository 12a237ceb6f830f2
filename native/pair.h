/*
 * Makes one vector from two registers, so that a step searches twice as many nonces: both halves go through the same arithmetic
 * side by side. With one register, the chains of dependent operations in the G functions leave a chip whose vector operations
 * take two cycles (Zen 5) idle half of the time. Chips with one-cycle operations gain nothing.
 *
 * Include this file after the macros of kernel.h are defined for one register.
 */
typedef V half;
typedef struct {
  half a, b;
} pair;

enum { HALF_LANES = LANES };

#define PAIR_OF(expression_a, expression_b) ((pair){expression_a, expression_b})
static inline pair pair_set1(uint32_t word) { return PAIR_OF(SET1(word), SET1(word)); }
static inline pair pair_add(pair x, pair y) { return PAIR_OF(ADD(x.a, y.a), ADD(x.b, y.b)); }
static inline pair pair_xor(pair x, pair y) { return PAIR_OF(XOR(x.a, y.a), XOR(x.b, y.b)); }
static inline pair pair_xor3(pair x, pair y, pair z) { return PAIR_OF(XOR3(x.a, y.a, z.a), XOR3(x.b, y.b, z.b)); }
static inline pair pair_ror24(pair x) { return PAIR_OF(ROR24(x.a), ROR24(x.b)); }
static inline pair pair_ror16(pair x) { return PAIR_OF(ROR16(x.a), ROR16(x.b)); }
static inline pair pair_ror12(pair x) { return PAIR_OF(ROR12(x.a), ROR12(x.b)); }
static inline pair pair_ror8(pair x) { return PAIR_OF(ROR8(x.a), ROR8(x.b)); }
static inline pair pair_ror7(pair x) { return PAIR_OF(ROR7(x.a), ROR7(x.b)); }
static inline pair pair_ror1(pair x) { return PAIR_OF(ROR1(x.a), ROR1(x.b)); }
static inline int pair_any_clear(pair x, pair mask) { return ANY_CLEAR(x.a, mask.a) || ANY_CLEAR(x.b, mask.b); }
static inline uint32_t pair_clear_lanes(pair x, pair mask) {
  return CLEAR_LANES(x.a, mask.a) | (uint32_t)CLEAR_LANES(x.b, mask.b) << HALF_LANES;
}

#undef V
#undef LANES
#undef SET1
#undef ADD
#undef XOR
#undef XOR3
#undef ROR24
#undef ROR16
#undef ROR12
#undef ROR8
#undef ROR7
#undef ROR1
#undef ANY_CLEAR
#undef CLEAR_LANES
#define V pair
#define LANES (2 * HALF_LANES)
#define SET1 pair_set1
#define ADD pair_add
#define XOR pair_xor
#define XOR3 pair_xor3
#define ROR24 pair_ror24
#define ROR16 pair_ror16
#define ROR12 pair_ror12
#define ROR8 pair_ror8
#define ROR7 pair_ror7
#define ROR1 pair_ror1
#define ANY_CLEAR pair_any_clear
#define CLEAR_LANES pair_clear_lanes
