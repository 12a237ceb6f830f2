/**
 * The one description of the hash kernel, from which all kernels are printed. It is blake2s's compression of the last
 * block (64 bytes) of a header (286 bytes; RFC 7693 §3.2), from the midstate (h0 … h7) and the tail (m0 … m7; words 8
 * to 15 are zero). The counter is word 6 and the page word 7. The lane is in the high half of word 5 and the same for a
 * whole job.
 *
 * Only hash word 7, the most significant one, is computed. At real targets it rejects all but 2^-32 of the nonces.
 */

import { IV, QUADS, SIGMA } from '#pickaxe/protocol/chain/blake2s.js';
import { HEADER_BYTES } from '#pickaxe/protocol/chain/bytes.js';
import { Algebra, COUNTER, type Depth, isLeaf, PAGE, type Value } from './algebra.ts';

export interface Machine {
  /** How many terms one addition has. */
  readonly addends: 2 | 3;
  /** Whether the kernel loops over pages. Otherwise it gets one page in the tail. */
  readonly loopsOverPages: boolean;
  /**
   * `plain` is hash word 7. `rotated` is word 7 rotated left by 7, which saves two rotates. It is enough for a test of
   * single bits.
   */
  readonly result: 'plain' | 'rotated';
}

export interface KernelDescription {
  readonly result: Value;
  /** All values that the result needs. The operands of a value come before it. */
  readonly values: readonly Value[];
}

export function describe({ addends, loopsOverPages, result }: Machine): KernelDescription {
  const algebra = new Algebra(addends);
  const h = Array.from({ length: 8 }, (_, i) => algebra.input(`h${i}`));
  const m = Array.from({ length: 16 }, (_, i) => (i < 8 ? algebra.input(`m${i}`) : algebra.constant(0)));
  m[6] = algebra.input('counter', COUNTER);
  if (loopsOverPages) m[7] = algebra.input('page', PAGE);

  const initial = IV.slice();
  initial[4] ^= HEADER_BYTES;
  initial[6] = ~initial[6]; // This marks the last block.
  const v = [...h, ...Array.from(initial, (word) => algebra.constant(word))];

  // The four G functions of a half round are independent, so each of their steps is done in all four before the next
  // step.
  for (const order of SIGMA) {
    for (const half of [0, 4]) {
      const quads = QUADS.slice(half, half + 4);
      for (const [step, [byD, byB]] of [
        [16, 12],
        [8, 7],
      ].entries()) {
        for (const [i, [a, b]] of quads.entries()) v[a] = algebra.add(v[a], v[b], m[order[2 * (half + i) + step]]);
        for (const [a, , , d] of quads) v[d] = algebra.rotr(algebra.xor(v[d], v[a]), byD);
        for (const [, , c, d] of quads) v[c] = algebra.add(v[c], v[d]);
        for (const [, b, c] of quads) v[b] = algebra.rotr(algebra.xor(v[b], v[c]), byB);
      }
    }
  }
  return needed(result === 'plain' ? algebra.xor(v[7], v[15], h[7]) : rotatedWord7(algebra, v[7], v[15], h[7]));
}

/**
 * @returns v7 ^ v15 ^ h7 rotated left by 7. v7 is a rotate right by 7 and v15 one by 8, so both last rotates are
 *   omitted
 */
function rotatedWord7(algebra: Algebra, v7: Value, v15: Value, h7: Value): Value {
  const [beforeRotate7] = v7.operands;
  const [beforeRotate8] = v15.operands;
  const turned = algebra.xor(...beforeRotate8.operands, algebra.rotr(h7, 24));
  return algebra.xor(...beforeRotate7.operands, algebra.rotr(turned, 1));
}

/** Collects the values that the result depends on, and so drops the rest of the last round. */
function needed(result: Value): KernelDescription {
  const found = new Map<number, Value>();
  const visit = (value: Value): void => {
    if (found.has(value.id)) return;
    found.set(value.id, value);
    value.operands.forEach(visit);
  };
  visit(result);
  return { result, values: [...found.values()].sort((a, b) => a.id - b.id) };
}

/** @returns the values that are computed at one depth, in order */
export function operationsAt(kernel: KernelDescription, depth: Depth): Value[] {
  return kernel.values.filter((value) => value.depth === depth && !isLeaf(value));
}

/**
 * @returns the values of one depth that other depths read, in order, without constants, which are written where they
 *   are used
 */
export function handedDown(kernel: KernelDescription, depth: Depth): Value[] {
  const read = new Set(kernel.values.filter((value) => value.depth !== depth).flatMap((value) => value.operands));
  return kernel.values.filter((value) => value.depth === depth && value.op !== 'constant' && read.has(value));
}

/**
 * @returns how many operations a nonce costs. An addition, an exclusive or (of two or three) and a rotate count as one
 *   each
 */
export function costPerNonce(kernel: KernelDescription): number {
  return operationsAt(kernel, kernel.result.depth).length;
}
