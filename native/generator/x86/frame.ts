/**
 * The addresses of everything that the assembly reads in memory. native/assembly.c lays out the frame and the table.
 * Several base registers are used, each in the middle of what a one-byte offset reaches: with longer offsets, the
 * instructions would not all fit into the chips' caches of decoded instructions.
 */

import { COUNTER, JOB } from '../algebra.ts';
import { handedDown, type KernelDescription } from '../last-block.ts';
import type { Vector } from './instruction.ts';
import type { AssemblyKernel } from './instruction-sets.ts';

/** How many bytes below the stack pointer a function may use, except on Windows. */
export const RED_ZONE_BYTES = 128;

/**
 * The frame's layout, in vectors. `word7` has room for hash word 7 of two vectors of nonces, which a step writes there.
 */
const FRAME = { page: 0, mask: 1, zero: 2, shuffle16: 3, shuffle8: 4, word7: 5, job: 7 };

/** The older registers are used, since the newer ones (%r8 …) make an instruction one byte longer. */
const FRAME_BASES = ['%rdi', '%rax', '%rcx', '%rdx'];
const TABLE_BASES = ['%rsi'];
/**
 * Zen 5 forwards stores faster to loads that go through these two registers: a third base, %rbx, made AVX2 2 % slower.
 */
const STACK_BASES = ['%rsp', '%rbp'];

export interface Frame {
  readonly page: Vector;
  readonly mask: Vector;
  /** Zero in every lane. */
  readonly zero: Vector;
  /** The masks of the byte shuffles that rotate each word right, by the number of bits. */
  readonly shuffles: Readonly<Record<number, Vector>>;
  /** How many registers hold masks: the last ones. */
  readonly registers: number;
  readonly job: readonly Vector[];
  /** The table's words for one vector of nonces. */
  table(vector: number): Vector[];
  /** The address to which hash word 7 is written, for the search of hits. */
  word7(vector: number): string;
  /** The address of a vector that no register is free for. */
  spill(slot: number): string;
  /** How many bytes of the table a step reads. */
  readonly stepBytes: number;
  /**
   * @returns the instructions that set up all base registers and the masks in registers, when %rdi points to the frame
   *   and %rsi to the table, and that reserve stack for `slots` vectors
   */
  setUp(slots: number): string[];
}

export function frameOf(kernel: KernelDescription, { set, vectors, masksInRegisters }: AssemblyKernel): Frame {
  const { bytes, avx512 } = set;
  // With AVX-512 a one-byte offset reaches 127 vectors ahead. With AVX2 it reaches 128 bytes back and 127 bytes ahead.
  // The 128 bytes below %rsp are the red zone, so the stack can be used in the same way. Windows has no red zone:
  // there, RED_ZONE moves %rsp down, and some offsets from it become longer.
  const [reach, centre] = avx512 ? [128, 0] : [256 / bytes, 128 / bytes];
  const address = (offset: number, base: string) => `${offset}${base === '%rsp' ? '+RED_ZONE' : ''}(${base})`;
  const place = (bases: readonly string[], index: number): string => {
    const base = Math.min(Math.floor(index / reach), bases.length - 1);
    return address((index - base * reach - centre) * bytes, bases[base]);
  };
  const others = (bases: readonly string[], count: number): string[] =>
    bases
      .slice(1, Math.ceil(count / reach))
      .map((base, i) => `leaq ${address((i + 1) * reach * bytes, bases[0])}, ${base}`);
  const inFrame = (index: number): Vector => ({ memory: place(FRAME_BASES, index) });
  const job = handedDown(kernel, JOB).map((_, i) => inFrame(FRAME.job + i));
  const tableWords = handedDown(kernel, COUNTER).length;
  const masks = [inFrame(FRAME.shuffle16), inFrame(FRAME.shuffle8)];
  const registers = masksInRegisters ? masks.map((_, i) => `${set.register}${set.registers - 1 - i}`) : [];
  const [shuffle16, shuffle8] = masks.map((mask, i) => (registers[i] ? { register: registers[i] } : mask));
  return {
    page: inFrame(FRAME.page),
    mask: inFrame(FRAME.mask),
    zero: inFrame(FRAME.zero),
    shuffles: { 16: shuffle16, 8: shuffle8 },
    registers: registers.length,
    job,
    table: (vector) =>
      Array.from({ length: tableWords }, (_, i) => ({ memory: place(TABLE_BASES, vector * tableWords + i) })),
    word7: (vector) => place(FRAME_BASES, FRAME.word7 + vector),
    spill: (slot) => place(STACK_BASES, slot),
    stepBytes: vectors * tableWords * bytes,
    setUp: (slots) => [
      `subq $${slots * bytes}+RED_ZONE, %rsp`,
      'andq $-64, %rsp',
      ...(centre ? [`addq $${centre * bytes}, %rdi`, `addq $${centre * bytes}, %rsi`] : []),
      ...others(FRAME_BASES, FRAME.job + job.length),
      ...others(STACK_BASES, slots),
      ...registers.map((register, i) => `vmovdqa ${masks[i].memory}, ${register}`),
    ],
  };
}
