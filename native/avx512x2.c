/* AVX-512F on pairs of registers: 32 nonces a step. */
#define PAIRED
#define SEARCH search_avx512x2
#include "avx512.c"
