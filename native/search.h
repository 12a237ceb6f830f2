/* What every kernel does: the contract between the host and the instruction sets. */
#pragma once
#include <stdint.h>

/* Counters that are searched on a page before the next page is begun: one row. The table over them (10 KiB) fits into
   every first-level cache, and a row (about 6 µs with AVX-512) is how soon a kernel stops. */
#define ROW_COUNTERS 512

/* 30 words, as the host packs them (src/engine/cpu/kernels/kernel.ts). */
struct search {
  uint32_t midstate[8]; /* blake2s state after the header's first 256 bytes */
  uint32_t tail[16];    /* last block of the header, the lane in its place; words 6 and 7 are ignored */
  uint32_t mask;        /* a nonce hits when no such bit is set in hash word 7 rotated left by 7 */
  uint32_t counter;     /* first counter */
  uint32_t counters;    /* 1 ... ROW_COUNTERS; counter + counters <= 2^32 */
  uint32_t page;        /* first page */
  uint32_t pages;       /* page + pages <= 2^16 */
  int32_t run;          /* number of the run that this search belongs to */
};

/* Words of the hit list: a count, then the hits of one row. */
#define HIT_WORDS (1 + ROW_COUNTERS)

/*
 * Searches row by row until the pages are done, a row had hits, or another run is the current one.
 *
 * current_run: number of the current run, which another thread writes while the kernel runs
 * hits: hits[0] is how many there were in the last row, then their offsets from the first counter
 * returns the number of rows searched
 */
typedef uint32_t search_function(const struct search *search, const volatile int32_t *current_run, uint32_t *hits);
