/** The instruction sets that assembly is printed for. Older ones (SSE4.1) and other chips make do with C. */

export interface InstructionSet {
  /** Bytes of a vector. */
  readonly bytes: 32 | 64;
  /** Vector registers. */
  readonly registers: 16 | 32;
  /** How a register is written: its prefix. */
  readonly register: '%ymm' | '%zmm';
  /** Whether it has what AVX-512 brought: rotates, exclusive or of three, and masks. */
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
   * Vectors of nonces that are searched side by side. Two keep chips busy whose vector operations take two cycles (Zen
   * 5), where one leaves them idle half of the time; one fits better into the instruction caches of others.
   */
  readonly vectors: 1 | 2;
}

export const ASSEMBLY_KERNELS: readonly AssemblyKernel[] = [
  { name: 'avx512x2', set: AVX512, vectors: 2 },
  { name: 'avx512', set: AVX512, vectors: 1 },
  { name: 'avx512vlx2', set: AVX512VL, vectors: 2 },
  { name: 'avx512vl', set: AVX512VL, vectors: 1 },
  { name: 'avx2x2', set: AVX2, vectors: 2 },
  { name: 'avx2', set: AVX2, vectors: 1 },
];
