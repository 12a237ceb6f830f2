/* AVX2 on pairs of registers: 16 nonces a step. */
#define PAIRED
#define SEARCH search_avx2x2
#include "avx2.c"
