/**
 * The instruction sets that assembly is printed for. For older ones (SSE4.1) and other chips there are kernels in C.
 */

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
  /** A name of KERNEL_NAMES (src/engine/device.ts). */
  readonly name: string;
  readonly set: InstructionSet;
  /**
   * How many vectors of nonces are searched side by side. On chips whose vector operations take two cycles (Zen 5), one
   * vector would leave the units idle half of the time. On other chips one is better, because it fits into the
   * instruction caches.
   */
  readonly vectors: 1 | 2;
  /**
   * Whether the instructions of each vector are put in a better order (schedule.ts). For one vector of AVX2 this gained
   * 7 % on Golden Cove and 2 % on Zen 4. With AVX-512 it lost 1 to 2 % on Golden Cove. On Zen 4 it gained 1 % for two
   * vectors, and 3 % for one, which stayed slower than two.
   */
  readonly scheduled?: boolean;
  /**
   * Whether the masks of byte shuffles stay in two registers, instead of being read from memory by each shuffle. That
   * costs one vector of AVX2 35 stores, and saves 77 loads. On Golden Cove it is as fast, and 5 to 15 % faster when
   * another program runs on the core's second thread.
   */
  readonly masksInRegisters?: boolean;
}

/**
 * There is no third AVX2 kernel, because the one that was tried did not earn its place. It had two scheduled vectors,
 * whose turns were 160 instructions long instead of 32, so that fewer vectors were spilled (311 stores instead of 712).
 * On Golden Cove it reached 86 % of the port bound; `avx2` reaches 84 % there, and `avx2x2` 64 %. That was measured
 * with one thread on the core. A second thread would share the core's cache of decoded instructions, into which one
 * such kernel hardly fits. On a quiet core of Zen 4 it reached 68 MH/s, `avx2x2` 71 and `avx2` 63. On a shared core it
 * reached 58 to 64 MH/s, `avx2` 62 to 63 and `avx2x2` 50 to 57.
 */
export const ASSEMBLY_KERNELS: readonly AssemblyKernel[] = [
  { name: 'avx512x2', set: AVX512, vectors: 2 },
  { name: 'avx512', set: AVX512, vectors: 1 },
  { name: 'avx512vlx2', set: AVX512VL, vectors: 2 },
  { name: 'avx512vl', set: AVX512VL, vectors: 1 },
  { name: 'avx2x2', set: AVX2, vectors: 2 },
  { name: 'avx2', set: AVX2, vectors: 1, scheduled: true, masksInRegisters: true },
];
