/*
 * The loops around the generated arithmetic. An instruction set defines the macros below and includes this file, which
 * defines its search function:
 *
 * SEARCH          the name of the search function
 * V, LANES        the type of a vector of 32-bit words, and how many it has: one nonce per lane
 * SET1(word)      a vector with the word in every lane
 * ADD XOR XOR3    arithmetic on each lane
 * RORn(v)         rotates each lane right by n: 16, 12, 8 and 7 (often), 24 and 1 (rarely)
 * ANY_CLEAR(v, mask)    whether v & mask is zero in any lane
 * CLEAR_LANES(v, mask)  the lanes in which it is zero, as a bit set
 * CURRENT_RUN(pointer)  optional: reads the number of the current run
 * PAIRED          optional: search with pairs of vectors
 */
#include "search.h"

#ifdef PAIRED
#include "pair.h"
#endif
#include "scan.generated.h"

#ifndef CURRENT_RUN
#define CURRENT_RUN(pointer) (*(pointer))
#endif

#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)

/* Adds the lanes with a hit to the hit list. Lanes past the end of the row are dropped. */
static __attribute__((noinline)) void collect(uint32_t lanes, uint32_t first, uint32_t counters, uint32_t *hits) {
  for (; lanes; lanes &= lanes - 1) {
    const uint32_t offset = first + (uint32_t)__builtin_ctz(lanes);
    if (offset < counters) hits[++hits[0]] = offset;
  }
}

/* A vector with word 6 of as many counters as it has lanes. */
static inline V counters_from(uint32_t counter, uint32_t step) {
  uint32_t words[LANES];
  for (uint32_t lane = 0; lane < LANES; lane++) words[lane] = counter + lane * step;
  V vector;
  __builtin_memcpy(&vector, words, sizeof vector);
  return vector;
}

search_function SEARCH;
uint32_t SEARCH(const struct search *search, const volatile int32_t *current_run, uint32_t *hits) {
  V job[JOB_WORDS];
  V table[ROW_COUNTERS / LANES * COUNTER_WORDS];
  const V mask = SET1(search->mask);
  const uint32_t counters = search->counters;

  prepare_job_words(search->midstate, search->tail, job);
  for (uint32_t i = 0, word = 0; i < counters; i += LANES, word += COUNTER_WORDS) {
    prepare_counter(job, counters_from(search->counter + i * search->step, search->step), table + word);
  }

  (void)current_run; /* Unused by the WebAssembly kernels, which ask their host. */
  hits[0] = 0;
  for (uint32_t row = 0; row < search->pages; row++) {
    if (UNLIKELY(CURRENT_RUN(current_run) != search->run)) return row;
    const V page = SET1(search->page + row);
    for (uint32_t i = 0, word = 0; i < counters; i += LANES, word += COUNTER_WORDS) {
      const V word7 = rotated_word7(job, table + word, page);
      if (UNLIKELY(ANY_CLEAR(word7, mask))) collect(CLEAR_LANES(word7, mask), i, counters, hits);
    }
    if (UNLIKELY(hits[0])) return row + 1;
  }
  return search->pages;
}
