/**
 * Where the assembly finds what it reads in memory: native/assembly.c lays out the frame and the table. Operands are
 * addressed from several registers, each in the middle of what a one-byte offset reaches: longer instructions would not
 * all fit into the caches for decoded ones.
 */

import { COUNTER, JOB } from '../algebra.ts';
import { handedDown, type Kernel } from '../last-block.ts';
import type { Vector } from './instruction.ts';
import type { InstructionSet } from './instruction-sets.ts';

/** Vectors of the frame; hash word 7 of up to two vectors of nonces is left there. */
const FRAME = { page: 0, mask: 1, zero: 2, shuffle16: 3, shuffle8: 4, word7: 5, job: 7 };

/** Old registers are used, since the new ones (%r8 …) take a byte more. */
const FRAME_BASES = ['%rdi', '%rax', '%rcx', '%rdx'];
const TABLE_BASES = ['%rsi'];
/** Zen 5 forwards stores faster to loads that go through these two: a third base, %rbx, made AVX2 slower by 2 %. */
const STACK_BASES = ['%rsp', '%rbp'];

export interface Frame {
  readonly page: Vector;
  readonly mask: Vector;
  /** Zero in every lane. */
  readonly zero: Vector;
  /** The orders of bytes that rotate each word right by so many bits. */
  readonly shuffles: Readonly<Record<number, Vector>>;
  readonly job: readonly Vector[];
  /** The table's words for one vector of nonces. */
  table(vector: number): Vector[];
  /** Where hash word 7 is left for whoever looks at hits. */
  word7(vector: number): string;
  /** Where a vector is kept while no register is free for it. */
  spill(slot: number): string;
  /** Bytes of the table that a step takes. */
  readonly stepBytes: number;
  /**
   * Instructions that set all bases up from what the function is called with: %rdi points to the frame, %rsi to the
   * table. Room for `slots` vectors is taken from the stack.
   */
  bases(slots: number): string[];
}

export function frameOf(kernel: Kernel, { bytes, avx512 }: InstructionSet, vectors: number): Frame {
  // One byte reaches 127 vectors ahead with AVX-512; with AVX2 it reaches 128 bytes back and 127 ahead. That is just the
  // red zone below %rsp, so the stack can be used in the same way.
  const [reach, centre] = avx512 ? [128, 0] : [256 / bytes, 128 / bytes];
  const place = (bases: readonly string[], index: number): string => {
    const base = Math.min(Math.floor(index / reach), bases.length - 1);
    return `${(index - base * reach - centre) * bytes}(${bases[base]})`;
  };
  const others = (bases: readonly string[], count: number): string[] =>
    bases.slice(1, Math.ceil(count / reach)).map((base, i) => `leaq ${(i + 1) * reach * bytes}(${bases[0]}), ${base}`);
  const inFrame = (index: number): Vector => ({ memory: place(FRAME_BASES, index) });
  const job = handedDown(kernel, JOB).map((_, i) => inFrame(FRAME.job + i));
  const tableWords = handedDown(kernel, COUNTER).length;
  return {
    page: inFrame(FRAME.page),
    mask: inFrame(FRAME.mask),
    zero: inFrame(FRAME.zero),
    shuffles: { 16: inFrame(FRAME.shuffle16), 8: inFrame(FRAME.shuffle8) },
    job,
    table: (vector) =>
      Array.from({ length: tableWords }, (_, i) => ({ memory: place(TABLE_BASES, vector * tableWords + i) })),
    word7: (vector) => place(FRAME_BASES, FRAME.word7 + vector),
    spill: (slot) => place(STACK_BASES, slot),
    stepBytes: vectors * tableWords * bytes,
    bases: (slots) => [
      `subq $${slots * bytes}, %rsp`,
      'andq $-64, %rsp',
      ...(centre ? [`addq $${centre * bytes}, %rdi`, `addq $${centre * bytes}, %rsi`] : []),
      ...others(FRAME_BASES, FRAME.job + job.length),
      ...others(STACK_BASES, slots),
    ],
  };
}
