/*
 * The WebAssembly kernels: with SIMD (4 nonces a step, or 8 when PAIRED), and without. WebAssembly cannot read the host's
 * memory, so it calls the host for the number of the current run. The search and the hit list are in the module's own memory.
 */
#include "search.h"

__attribute__((import_module("host"), import_name("currentRun"))) int32_t host_current_run(void);

#if defined(__wasm_simd128__)
#include <wasm_simd128.h>

#define V v128_t
#define LANES 4
#define SET1(word) wasm_i32x4_splat((int32_t)(word))
#define ADD wasm_i32x4_add
#define XOR wasm_v128_xor
#define XOR3(a, b, c) XOR(XOR(a, b), c)
#define SHIFTED(v, n) wasm_v128_or(wasm_u32x4_shr(v, n), wasm_i32x4_shl(v, 32 - (n)))
/* In V8, a swizzle by constants is 25 % faster than a shuffle, and much faster than shifts. */
#define SWIZZLED(v, ...) wasm_i8x16_swizzle(v, wasm_i8x16_const(__VA_ARGS__))
#define ROR24(v) SHIFTED(v, 24)
#define ROR16(v) SWIZZLED(v, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13)
#define ROR12(v) SHIFTED(v, 12)
#define ROR8(v) SWIZZLED(v, 1, 2, 3, 0, 5, 6, 7, 4, 9, 10, 11, 8, 13, 14, 15, 12)
#define ROR7(v) SHIFTED(v, 7)
#define ROR1(v) SHIFTED(v, 1)
#define CLEAR_LANES(v, mask) \
  ((uint32_t)wasm_i32x4_bitmask(wasm_i32x4_eq(wasm_v128_and(v, mask), wasm_i32x4_const(0, 0, 0, 0))))
#define ANY_CLEAR(v, mask) (!wasm_i32x4_all_true(wasm_v128_and(v, mask)))
#define SEARCH search_wasm
#define CURRENT_RUN(unused) host_current_run()
#include "kernel.h"
#else
#define SEARCH search_wasm
#define CURRENT_RUN(unused) host_current_run()
#include "words.h"
#include "kernel.h"
#endif

static struct search search_memory;
static uint32_t hit_memory[HIT_WORDS];

/* Returns where the host must write the search (31 words). */
__attribute__((export_name("searchAt"))) struct search *search_at(void) { return &search_memory; }

/* Returns where the host can read the hits (513 words). */
__attribute__((export_name("hitsAt"))) uint32_t *hits_at(void) { return hit_memory; }

__attribute__((export_name("search"))) uint32_t search(void) { return search_wasm(&search_memory, 0, hit_memory); }
