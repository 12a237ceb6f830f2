/** The instruction sets that assembly is printed for. For older ones (SSE4.1) and other chips there are kernels in C. */

export interface InstructionSet {
  /** The length of a vector in bytes. */
  readonly bytes: 32 | 64;
  /** How many vector registers there are. */
  readonly registers: 16 | 32;
  /** The prefix of a register's name. */
  readonly register: '%ymm' | '%zmm';
  /** Whether there are the new instructions of AVX-512: rotates, exclusive or of three operands, and masks. */
  readonly avx512: boolean;
}

const AVX2: InstructionSet = { bytes: 32, registers: 16, register: '%ymm', avx512: false };
const AVX512: InstructionSet = { bytes: 64, registers: 32, register: '%zmm', avx512: true };
const AVX512VL: InstructionSet = { ...AVX512, bytes: 32, register: '%ymm' };

export interface AssemblyKernel {
  /** A name of KERNEL_NAMES (src/engine/cpu/kernel-names.ts). */
  readonly name: string;
  readonly set: InstructionSet;
  /**
   * How many vectors of nonces are searched side by side. On chips whose vector operations take two cycles (Zen 5), one
   * vector would leave the units idle half of the time. On other chips one is better, because it fits into the instruction
   * caches.
   */
  readonly vectors: 1 | 2;
  /**
   * Whether the instructions of each vector are put in a better order (schedule.ts). It gained 7 % for one vector of AVX2 on
   * Golden Cove, and 2 % on Zen 4. With AVX-512 it changed the rate by -2 to +1 % on both.
   */
  readonly scheduled?: boolean;
}

/**
 * A third AVX2 kernel was tried and is left out: two vectors, scheduled, which take turns of 160 instructions and not of 32.
 * That spills fewer vectors (311 stores instead of 712). On Golden Cove it reached 86 % of the port bound, where `avx2` has
 * 84 % and `avx2x2` 64 %, but only while its core ran no other thread. Two threads share a core's cache of decoded
 * instructions, into which one such kernel hardly fits. On Zen 4 it was slower than `avx2x2` on a quiet core (68 and 71 MH/s;
 * `avx2` 63), and hardly ever faster than `avx2` on a shared one (58 to 64 MH/s and 62 to 63; `avx2x2` 50 to 57).
 */
export const ASSEMBLY_KERNELS: readonly AssemblyKernel[] = [
  { name: 'avx512x2', set: AVX512, vectors: 2 },
  { name: 'avx512', set: AVX512, vectors: 1 },
  { name: 'avx512vlx2', set: AVX512VL, vectors: 2 },
  { name: 'avx512vl', set: AVX512VL, vectors: 1 },
  { name: 'avx2x2', set: AVX2, vectors: 2 },
  { name: 'avx2', set: AVX2, vectors: 1, scheduled: true },
];
