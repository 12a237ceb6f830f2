/**
 * Where the assembly finds what it reads: native/assembly.c lays out the frame and the table. %rdi points to the frame,
 * %rsi to the table's entry for the step, %rsp to room for vectors that no register is left for.
 */

import { COUNTER } from '../algebra.ts';
import { handedDown, type Kernel } from '../last-block.ts';
import type { Vector } from './instruction.ts';

/** Vectors of the frame: the page, the mask, hash word 7 of up to two vectors of nonces, then the words of the job. */
const PAGE = 0;
const MASK = 1;
const WORD7 = 2;
const JOB_WORDS = 4;

export interface Frame {
  readonly page: Vector;
  readonly mask: Vector;
  /** Zero in every lane. */
  readonly zero: Vector;
  job(index: number): Vector;
  table(vector: number, index: number): Vector;
  /** The order of bytes that rotates each word right. */
  shuffle(bits: 8 | 16): Vector;
  /** Where hash word 7 is left for whoever looks at hits. */
  word7(vector: number): string;
  /** Where a vector is kept while no register is free for it. */
  spill(slot: number): string;
  /** Bytes of the table that one step takes. */
  readonly tableBytes: number;
}

/** @param bytes of a vector */
export function frameOf(kernel: Kernel, bytes: number, vectors: number): Frame {
  const words = handedDown(kernel, COUNTER).length;
  const inFrame = (index: number): Vector => ({ memory: `${index * bytes}(%rdi)` });
  const job = new Map<number, Vector>();
  const shuffles = { 8: { memory: '.Lshuffle8(%rip)' }, 16: { memory: '.Lshuffle16(%rip)' } };
  return {
    page: inFrame(PAGE),
    mask: inFrame(MASK),
    zero: { memory: '.Lzero(%rip)' },
    job(index) {
      const vector = job.get(index) ?? inFrame(JOB_WORDS + index);
      job.set(index, vector);
      return vector;
    },
    table: (vector, index) => ({ memory: `${(vector * words + index) * bytes}(%rsi)` }),
    shuffle: (bits) => shuffles[bits],
    word7: (vector) => `${(WORD7 + vector) * bytes}(%rdi)`,
    spill: (slot) => `${slot * bytes}(%rsp)`,
    tableBytes: vectors * words * bytes,
  };
}
