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
  /** A name of KERNEL_NAMES (src/miner/engine/device.ts). */
  readonly name: string;
  readonly set: InstructionSet;
  /**
   * How many vectors of nonces are searched side by side. On chips whose vector operations take two cycles (Zen 5), one
   * vector would leave the units idle half of the time. On other chips one is better, because it fits into the
   * instruction caches.
   */
  readonly vectors: 1 | 2;
  /**
   * Two vectors take turns, each of this many instructions. With longer turns, one vector alone must keep the pipes
   * busy; with shorter ones, registers are spilled and reloaded all the time.
   */
  readonly turn?: number;
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
 * A quarter of a round. Zen 5 keeps only 2 of its 4 pipes busy with one vector, so it needs both vectors among the
 * instructions that it looks at.
 */
const SHORT = 32;

/**
 * One round, so that fewer vectors are spilled: a step has 429 stores instead of 712, and 653 loads instead of 1194.
 * Golden Cove does at most 3.8 vector operations, loads and stores a cycle. From 128 to 160 its rate is the
 * same within 1 %; with 120 it is 4 % lower.
 */
const LONG = 128;

/**
 * AVX2 has three kernels, because chips differ. Of the port bound, Golden Cove (Sapphire Rapids) reaches 90 % with
 * `avx2x2long`, 84 % with `avx2` and 66 % with `avx2x2`. When another program runs on the core's second thread, `avx2`
 * is between 9 % faster and 6 % slower than `avx2x2long`. llvm-mca prefers `avx2x2long` on Zen 3 and `avx2x2` on Zen 2,
 * by 10 % each.
 *
 * One vector is limited by its dependencies: a chip chooses an instruction's pipe long before the operands are ready,
 * by the number of instructions that wait at each pipe. Without dependencies, the same instructions reach 98 %; without
 * spills (32 registers), one vector is no faster, and two reach 96 %. Longer and shorter encodings are equally fast.
 */
export const ASSEMBLY_KERNELS: readonly AssemblyKernel[] = [
  { name: 'avx512x2', set: AVX512, vectors: 2, turn: SHORT },
  { name: 'avx512', set: AVX512, vectors: 1 },
  { name: 'avx512vlx2', set: AVX512VL, vectors: 2, turn: SHORT },
  { name: 'avx512vl', set: AVX512VL, vectors: 1 },
  { name: 'avx2x2long', set: AVX2, vectors: 2, turn: LONG, scheduled: true, masksInRegisters: true },
  { name: 'avx2x2', set: AVX2, vectors: 2, turn: SHORT },
  { name: 'avx2', set: AVX2, vectors: 1, scheduled: true, masksInRegisters: true },
];
