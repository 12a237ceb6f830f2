/*
 * Measures the limits of this chip's vector units, with instructions that depend on nothing. It prints one line per measurement:
 * "NAME OPERATIONS_PER_NS". bench/kernels/ceiling.mjs compiles and runs it. x86-64 only.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <time.h>

static double cpu_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* Each measurement takes about 1 ms. The best of many counts, because other programs can only make it slower. */
#define REPEATS 1000
#define TRIES 40

#define MEASURE(name, operations, code, ...)                                                    \
  do {                                                                                          \
    double best = 0;                                                                            \
    for (int try = 0; try < TRIES; try++) {                                                     \
      const double start = cpu_ns();                                                            \
      for (int i = 0; i < REPEATS; i++) __asm__ volatile(".rept 32\n" code ".endr" ::: __VA_ARGS__); \
      const double rate = 32.0 * REPEATS * (operations) / (cpu_ns() - start);                   \
      if (rate > best) best = rate;                                                             \
    }                                                                                           \
    printf("%s %.3f\n", name, best);                                                            \
  } while (0)

#define XMM "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", \
            "xmm13", "xmm14", "xmm15"

/* The same operation on each of fifteen registers, which is enough for any latency. */
#define FIFTEEN(op) \
  op(0) op(1) op(2) op(3) op(4) op(5) op(6) op(7) op(8) op(9) op(10) op(11) op(12) op(13) op(14)

#define ADD(reg, n) "vpaddd %%" reg "15, %%" reg #n ", %%" reg #n "\n"
#define ADD_Y(n) ADD("ymm", n)
#define ADD_Z(n) ADD("zmm", n)
#define ROTATE_Z(n) "vprord $7, %%zmm" #n ", %%zmm" #n "\n"
#define ROTATE_L(n) "vprord $7, %%ymm" #n ", %%ymm" #n "\n"
#define XOR_Z(n) "vpxord %%zmm15, %%zmm" #n ", %%zmm" #n "\n"
#define XOR_L(n) "vpxord %%ymm15, %%ymm" #n ", %%ymm" #n "\n"
#define XOR_Y(n) "vpxor %%ymm15, %%ymm" #n ", %%ymm" #n "\n"
#define SHIFT_Y(n) "vpslld $7, %%ymm" #n ", %%ymm" #n "\n"
#define SHUFFLE_Y(n) "vpshufb %%ymm15, %%ymm" #n ", %%ymm" #n "\n"
/* The kernels' mixture: two additions or exclusive ors for each rotate, which AVX2 does with shifts or a shuffle. */
#define MIX_Z(n) ADD_Z(n) XOR_Z(n) ROTATE_Z(n)
#define MIX_L(n) ADD_Y(n) XOR_L(n) ROTATE_L(n)
#define MIX_Y(n) ADD_Y(n) XOR_Y(n) SHIFT_Y(n) XOR_Y(n) SHUFFLE_Y(n) ADD_Y(n) SHIFT_Y(n) XOR_Y(n)

/*
 * Two chains of dependent instructions that measure the clock. Intel's chips since Golden Cove fold additions of constants into the
 * following instruction, several per cycle. Alternating additions and exclusive ors of registers cannot be folded, and take a cycle
 * each on every chip. A multiplication of 32 bits takes 3 cycles on AMD's Zen and on Intel's chips since Sandy Bridge, including
 * small cores.
 */
#define ADD_XOR "addq %%rcx, %%rax\nxorq %%rdx, %%rax\n"
#define MULTIPLY "imull %%ecx, %%eax\n"
#define MULTIPLY_CYCLES 3

int main(void) {
  MEASURE("clock", 12, ".rept 6\n" ADD_XOR ".endr\n", "rax", "cc");
  MEASURE("clock_by_multiplications", 12 * MULTIPLY_CYCLES, ".rept 12\n" MULTIPLY ".endr\n", "rax", "cc");
  if (__builtin_cpu_supports("avx2")) {
    MEASURE("avx2_dependent_adds", 12, ".rept 12\n" ADD_Y(0) ".endr\n", XMM);
    MEASURE("avx2_adds", 15, FIFTEEN(ADD_Y), XMM);
    MEASURE("avx2_shifts", 15, FIFTEEN(SHIFT_Y), XMM);
    MEASURE("avx2_shuffles", 15, FIFTEEN(SHUFFLE_Y), XMM);
    MEASURE("avx2_mixture", 120, FIFTEEN(MIX_Y), XMM);
  }
  if (__builtin_cpu_supports("avx512f")) {
    MEASURE("avx512_dependent_adds", 12, ".rept 12\n" ADD_Z(0) ".endr\n", XMM);
    MEASURE("avx512_adds", 15, FIFTEEN(ADD_Z), XMM);
    MEASURE("avx512_rotates", 15, FIFTEEN(ROTATE_Z), XMM);
    MEASURE("avx512_mixture", 45, FIFTEEN(MIX_Z), XMM);
  }
  /* Half of a vector's length: some chips have one more unit for it, and others do the same number of operations. */
  if (__builtin_cpu_supports("avx512vl")) {
    MEASURE("avx512vl_adds", 15, FIFTEEN(ADD_Y), XMM);
    MEASURE("avx512vl_rotates", 15, FIFTEEN(ROTATE_L), XMM);
    MEASURE("avx512vl_mixture", 45, FIFTEEN(MIX_L), XMM);
  }
  return 0;
}
