/*
 * The loops around the scans in assembly, for AVX2 and AVX-512. native/generator/x86/ prints the scans when the addon is built;
 * native/README.md says why they are not in C.
 */
#if defined(__x86_64__)
#include "search.h"
#include "words.h"
#include "scan.generated.h"

/* The widest vector has this many 32-bit words. */
#define MOST_LANES 16

/* The layout of the frame in vectors, which must be the same as in native/generator/x86/frame.ts. */
enum { PAGE, MASK, ZERO, SHUFFLE16, SHUFFLE8, WORD7, JOB = WORD7 + 2, FRAME_VECTORS = JOB + JOB_WORDS };

/*
 * Searches the counters of a table on one page, one step after another, up to the first step with a hit.
 *
 * frame: the values that every step needs, each in all lanes of a vector; aligned to 64 bytes. The scan writes hash word 7 of
 *   every nonce of its last step there, rotated left by 7
 * table: COUNTER_WORDS vectors for each vector of counters; aligned to 64 bytes
 * steps: at least 1
 * returns how many steps precede the first step with a hit; `steps` without one
 *
 * It is called as on Linux on every system. On Windows the compiler saves %xmm6 to %xmm15 around a search.
 */
typedef __attribute__((sysv_abi)) uint32_t scan_function(uint32_t *frame, const uint32_t *table, uint32_t steps);

static void fill(uint32_t *frame, uint32_t vector, uint32_t lanes, uint32_t word) {
  for (uint32_t lane = 0; lane < lanes; lane++) frame[vector * lanes + lane] = word;
}

static uint32_t search_in_steps(const struct search *search, const volatile int32_t *current_run, uint32_t *hits,
                                scan_function *scan, uint32_t lanes, uint32_t vectors) {
  _Alignas(64) uint32_t frame[FRAME_VECTORS * MOST_LANES];
  _Alignas(64) uint32_t table[ROW_COUNTERS * COUNTER_WORDS];
  const uint32_t counters_per_step = lanes * vectors;
  const uint32_t steps = (search->counters + counters_per_step - 1) / counters_per_step;
  const uint32_t words_per_step = counters_per_step * COUNTER_WORDS;

  uint32_t job[JOB_WORDS];
  prepare_job_words(search->midstate, search->tail, job);
  for (uint32_t i = 0; i < JOB_WORDS; i++) fill(frame, JOB + i, lanes, job[i]);
  fill(frame, MASK, lanes, search->mask);
  fill(frame, ZERO, lanes, 0);
  for (uint32_t lane = 0; lane < lanes; lane++) {
    /* The positions, within 16 bytes, from which the bytes of a rotated word come: AVX2 has no rotate instruction. */
    frame[SHUFFLE16 * lanes + lane] = 0x01000302u + lane % 4 * 0x04040404u;
    frame[SHUFFLE8 * lanes + lane] = 0x00030201u + lane % 4 * 0x04040404u;
  }
  /* The last step is filled up with counters past the end of the row. Their hits are dropped below. */
  for (uint32_t i = 0; i < steps * counters_per_step; i++) {
    uint32_t words[COUNTER_WORDS];
    prepare_counter(job, search->counter + i * search->step, words);
    uint32_t *entry = table + i / lanes * lanes * COUNTER_WORDS + i % lanes;
    for (uint32_t word = 0; word < COUNTER_WORDS; word++) entry[word * lanes] = words[word];
  }

  hits[0] = 0;
  for (uint32_t row = 0; row < search->pages; row++) {
    if (*current_run != search->run) return row;
    fill(frame, PAGE, lanes, search->page + row);
    for (uint32_t step = 0; step < steps; step++) {
      step += scan(frame, table + step * words_per_step, steps - step);
      if (step == steps) break;
      for (uint32_t i = 0; i < counters_per_step; i++) {
        const uint32_t offset = step * counters_per_step + i;
        if (!(frame[WORD7 * lanes + i] & search->mask) && offset < search->counters) hits[++hits[0]] = offset;
      }
    }
    if (hits[0]) return row + 1;
  }
  return search->pages;
}

#define KERNEL(name, lanes, vectors)                                                                                 \
  scan_function scan_##name;                                                                                         \
  search_function search_##name;                                                                                     \
  uint32_t search_##name(const struct search *search, const volatile int32_t *current_run, uint32_t *hits) {         \
    return search_in_steps(search, current_run, hits, scan_##name, lanes, vectors);                                  \
  }

KERNEL(avx512x2, 16, 2)
KERNEL(avx512, 16, 1)
KERNEL(avx512vlx2, 8, 2)
KERNEL(avx512vl, 8, 1)
KERNEL(avx2x2long, 8, 2)
KERNEL(avx2x2, 8, 2)
KERNEL(avx2, 8, 1)
#endif
