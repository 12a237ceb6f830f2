/* The macros of kernel.h for plain 32-bit words: one nonce at a time. */
#define V uint32_t
#define LANES 1
#define SET1(word) ((uint32_t)(word))
#define ADD(a, b) ((a) + (b))
#define XOR(a, b) ((a) ^ (b))
#define XOR3(a, b, c) ((a) ^ (b) ^ (c))
#define SHIFTED(v, n) (((v) >> (n)) | ((v) << (32 - (n))))
#define ROR24(v) SHIFTED(v, 24)
#define ROR16(v) SHIFTED(v, 16)
#define ROR12(v) SHIFTED(v, 12)
#define ROR8(v) SHIFTED(v, 8)
#define ROR7(v) SHIFTED(v, 7)
#define ROR1(v) SHIFTED(v, 1)
#define CLEAR_LANES(v, mask) ((uint32_t)(((v) & (mask)) == 0))
#define ANY_CLEAR CLEAR_LANES
