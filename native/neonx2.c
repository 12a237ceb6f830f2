/* NEON on pairs of registers: 8 nonces a step. */
#define PAIRED
#define SEARCH search_neonx2
#include "neon.c"
