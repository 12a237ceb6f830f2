/*
 * Runs kernels outside of Node: under sanitizers, on an emulated chip, and on Windows.
 *
 *   driver            prints every kernel that was compiled in, one a line: its name, then 1 if this chip runs it
 *   driver KERNEL     answers searches, one a line, until there are no more
 *
 * A search is 32 hexadecimal words: struct search, then the number of the current run. Its answer is each hit as
 * page:word6, then the number of pages searched, all hexadecimal. Every fault ends the program with an exit code that
 * is not 0.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(_WIN32)
#include <windows.h>
#else
#include <sys/mman.h>
#include <unistd.h>
#endif

#include "dispatch.h"

/* Written in front of each guarded array, and checked later; also fills arrays that a kernel has not written yet. */
#define PATTERN 0xa5

static _Noreturn void fail(const char *fault) {
  fprintf(stderr, "driver: %s\n", fault);
  exit(1);
}

#if defined(_WIN32)
static size_t page_bytes(void) {
  SYSTEM_INFO system;
  GetSystemInfo(&system);
  return system.dwPageSize;
}

/* Returns memory whose last page can neither be read nor written; NULL when there is none. */
static uint8_t *make_memory(size_t readable, size_t page) {
  DWORD before;
  uint8_t *memory = VirtualAlloc(NULL, readable + page, MEM_COMMIT | MEM_RESERVE, PAGE_READWRITE);
  return memory && VirtualProtect(memory + readable, page, PAGE_NOACCESS, &before) ? memory : NULL;
}
#else
static size_t page_bytes(void) { return (size_t)sysconf(_SC_PAGESIZE); }

/* Returns memory whose last page can neither be read nor written; NULL when there is none. */
static uint8_t *make_memory(size_t readable, size_t page) {
  uint8_t *memory = mmap(NULL, readable + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory != MAP_FAILED && mprotect(memory + readable, page, PROT_NONE) == 0 ? memory : NULL;
}
#endif

/* An array that ends where the readable memory ends: also catches code that no sanitizer watches, like assembly. */
struct guarded {
  uint8_t *front;
  size_t front_bytes;
  void *data;
};

static struct guarded make_guarded(size_t bytes) {
  const size_t page = page_bytes();
  const size_t readable = (bytes + page - 1) / page * page;
  uint8_t *memory = make_memory(readable, page);
  if (!memory) fail("no memory");
  memset(memory, PATTERN, readable);
  return (struct guarded){memory, readable - bytes, memory + readable - bytes};
}

static void check_front(const struct guarded *array) {
  for (size_t i = 0; i < array->front_bytes; i++) {
    if (array->front[i] != PATTERN) fail("a kernel wrote in front of an array");
  }
}

#if defined(_WIN32)
/* What a function on Windows must preserve, beside the registers that it must preserve on every system. */
struct kept {
  uint64_t rdi, rsi;
  uint8_t xmm[10][16]; /* %xmm6 to %xmm15 */
};

/* Calls a kernel with a pattern in these registers, and checks that the kernel preserved them. */
static uint32_t call_kernel(search_function *kernel, const struct search *search, const volatile int32_t *current_run,
                            uint32_t *hits) {
  struct {
    struct kept before, after; /* at 0 and 176 */
    uint32_t *hits;            /* at 352 */
  } registers;
  memset(&registers, PATTERN, sizeof registers.before);
  registers.hits = hits;
  uint64_t rows = (uint64_t)(uintptr_t)kernel;
  __asm__ volatile(
      "movq 0(%%rbx), %%rdi\n movq 8(%%rbx), %%rsi\n movq 352(%%rbx), %%r8\n"
      "movups 16(%%rbx), %%xmm6\n movups 32(%%rbx), %%xmm7\n movups 48(%%rbx), %%xmm8\n movups 64(%%rbx), %%xmm9\n"
      "movups 80(%%rbx), %%xmm10\n movups 96(%%rbx), %%xmm11\n movups 112(%%rbx), %%xmm12\n"
      "movups 128(%%rbx), %%xmm13\n movups 144(%%rbx), %%xmm14\n movups 160(%%rbx), %%xmm15\n"
      /* A function on Windows may use the 32 bytes above its return address. The stack is aligned to 16 bytes here. */
      "subq $32, %%rsp\n callq *%%rax\n addq $32, %%rsp\n"
      "movq %%rdi, 176(%%rbx)\n movq %%rsi, 184(%%rbx)\n"
      "movups %%xmm6, 192(%%rbx)\n movups %%xmm7, 208(%%rbx)\n movups %%xmm8, 224(%%rbx)\n movups %%xmm9, 240(%%rbx)\n"
      "movups %%xmm10, 256(%%rbx)\n movups %%xmm11, 272(%%rbx)\n movups %%xmm12, 288(%%rbx)\n"
      "movups %%xmm13, 304(%%rbx)\n movups %%xmm14, 320(%%rbx)\n movups %%xmm15, 336(%%rbx)\n"
      : "+a"(rows), "+c"(search), "+d"(current_run)
      : "b"(&registers)
      : "r8", "r9", "r10", "r11", "rdi", "rsi", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8",
        "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "memory", "cc");
  if (memcmp(&registers.before, &registers.after, sizeof registers.before) != 0) {
    fail("a kernel changed a register that belongs to its caller");
  }
  return (uint32_t)rows;
}
#else
static uint32_t call_kernel(search_function *kernel, const struct search *search, const volatile int32_t *current_run,
                            uint32_t *hits) {
  return kernel(search, current_run, hits);
}
#endif

/* Calls a kernel once, and checks what it must not have changed. */
static uint32_t call(search_function *kernel, const struct guarded *search, const struct guarded *current_run,
                     const struct guarded *hits) {
  struct search asked;
  memcpy(&asked, search->data, sizeof asked);
  memset(hits->data, PATTERN, 4 * HIT_WORDS);
  const uint32_t rows = call_kernel(kernel, search->data, current_run->data, hits->data);
  if (memcmp(&asked, search->data, sizeof asked) != 0) fail("a kernel changed what it was asked");
  check_front(search);
  check_front(current_run);
  check_front(hits);
  if (*(uint32_t *)hits->data > ROW_COUNTERS) fail("a kernel counted more hits than a row has counters");
  return rows;
}

/* Calls a kernel until all pages are searched, as a host does, and prints the answer. */
static void answer(search_function *kernel, const struct guarded *asked, const struct guarded *current_run,
                   const struct guarded *hit_list) {
  struct search *search = asked->data;
  const uint32_t *hits = hit_list->data;
  uint32_t searched = 0;
  while (search->pages > 0) {
    const uint32_t rows = call(kernel, asked, current_run, hit_list);
    if (rows == 0) break;
    if (rows > search->pages) fail("a kernel searched more pages than it was asked to");
    for (uint32_t i = 1; i <= hits[0]; i++) {
      printf("%" PRIx32 ":%" PRIx32 " ", search->page + rows - 1,
             search->counter + hits[i] * search->step);
    }
    searched += rows;
    search->page += rows;
    search->pages -= rows;
  }
  printf("%" PRIx32 "\n", searched);
}

/* Reads `count` words; returns whether there were that many. */
static int read_words(void *words, size_t count) {
  for (size_t i = 0; i < count; i++) {
    uint32_t word;
    if (scanf("%" SCNx32, &word) != 1) return 0;
    memcpy((uint8_t *)words + 4 * i, &word, 4);
  }
  return 1;
}

int main(int count, char **arguments) {
  struct kernel kernels[MAX_KERNELS];
  const uint32_t kernel_count = list_kernels(kernels);
  if (count < 2) {
    for (uint32_t i = 0; i < kernel_count; i++) printf("%s %d\n", kernels[i].name, kernels[i].supported);
    return 0;
  }

  const struct kernel *kernel = NULL;
  for (uint32_t i = 0; i < kernel_count; i++) {
    if (strcmp(kernels[i].name, arguments[1]) == 0 && kernels[i].supported) kernel = &kernels[i];
  }
  if (!kernel) fail("no such kernel, or not for this chip");

  const struct guarded search = make_guarded(sizeof(struct search));
  const struct guarded current_run = make_guarded(sizeof(int32_t));
  const struct guarded hits = make_guarded(4 * HIT_WORDS);
  while (read_words(search.data, sizeof(struct search) / 4)) {
    if (!read_words(current_run.data, 1)) fail("half a search");
    answer(kernel->search, &search, &current_run, &hits);
  }
  return feof(stdin) ? 0 : 1;
}
