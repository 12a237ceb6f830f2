/* The contract between the host and the kernels of all instruction sets. */
#pragma once
#include <stdint.h>

/* A row has at most this many counters of one page. Its table (10 KiB) fits into every first-level cache, and a kernel can stop
   after each row (about 6 µs with AVX-512). */
#define ROW_COUNTERS 512

/* 31 words, which the host packs (src/miner/engine/cpu/kernels/kernel.ts). */
struct search {
  uint32_t midstate[8]; /* blake2s state after the header's first 256 bytes */
  uint32_t tail[16];    /* last block of the header, with the lane's low two bytes in their place; words 6 and 7 are ignored */
  uint32_t mask;        /* a nonce is a hit when none of these bits is set in hash word 7 rotated left by 7 */
  uint32_t counter;     /* word 6 of the first counter */
  uint32_t counters;    /* 1 ... ROW_COUNTERS; counter + step * (counters - 1) < 2^32 */
  uint32_t page;        /* first page */
  uint32_t pages;       /* page + pages <= 2^16 */
  int32_t run;          /* number of the run that this search belongs to */
  uint32_t step;        /* distance of word 6 from one counter to the next: 1, 256 or 65536 */
};

/* The length of the hit list in words: a count, then the hits of one row. */
#define HIT_WORDS (1 + ROW_COUNTERS)

/*
 * Searches row by row until the pages are done, a row had hits, or another run has become the current one.
 *
 * current_run: the number of the current run, which another thread may change meanwhile
 * hits: receives HIT_WORDS words: hits[0] is the number of hits in the last row, then their offsets from the first counter follow
 * returns how many rows were searched
 */
typedef uint32_t search_function(const struct search *search, const volatile int32_t *current_run, uint32_t *hits);
