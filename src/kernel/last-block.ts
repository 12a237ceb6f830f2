/**
 * The hash kernel, described once: blake2s compresses the last 64-byte block of a 286-byte header (RFC 7693 §3.2), from
 * the midstate (h0 … h7) and the tail (m0 … m7; words 8 to 15 are zero). The counter is word 6 and the page word 7; the
 * lane is in the high half of word 5, constant for a job. Every kernel of this project is printed from here.
 *
 * Only hash word 7, the most significant one, is computed: it decides all but 2^-32 of the nonces at real targets.
 */

import { IV, QUADS, SIGMA } from '../chain/blake2s.ts';
import { HEADER_BYTES } from '../chain/layout.ts';
import { Algebra, COUNTER, type Depth, isLeaf, PAGE, type Value } from './algebra.ts';

export interface Machine {
  /** Terms that one addition takes. */
  readonly addends: 2 | 3;
  /** Whether the kernel loops over pages, or is given one page in the tail. */
  readonly loopsOverPages: boolean;
  /**
   * `plain`: hash word 7. `rotated`: word 7 rotated left by 7, which saves two rotates where a test of single bits
   * will do.
   */
  readonly result: 'plain' | 'rotated';
}

export interface Kernel {
  readonly result: Value;
  /** Every value that the result needs, operands first. */
  readonly values: readonly Value[];
}

export function describe({ addends, loopsOverPages, result }: Machine): Kernel {
  const algebra = new Algebra(addends);
  const h = Array.from({ length: 8 }, (_, i) => algebra.input(`h${i}`));
  const m = Array.from({ length: 16 }, (_, i) => (i < 8 ? algebra.input(`m${i}`) : algebra.constant(0)));
  m[6] = algebra.input('counter', COUNTER);
  if (loopsOverPages) m[7] = algebra.input('page', PAGE);

  const initial = IV.slice();
  initial[4] ^= HEADER_BYTES;
  initial[6] = ~initial[6]; // the last block
  const v = [...h, ...Array.from(initial, (word) => algebra.constant(word))];

  // The four G functions of a half round are independent: each step is taken in all of them before the next.
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

/** v7 ^ v15 ^ h7, rotated left by 7: v7 ends with a rotate right by 7 and v15 with one by 8. */
function rotatedWord7(algebra: Algebra, v7: Value, v15: Value, h7: Value): Value {
  const [beforeRotate7] = v7.operands;
  const [beforeRotate8] = v15.operands;
  const turned = algebra.xor(...beforeRotate8.operands, algebra.rotr(h7, 24));
  return algebra.xor(...beforeRotate7.operands, algebra.rotr(turned, 1));
}

/** Cuts the last round to what reaches the result. */
function needed(result: Value): Kernel {
  const found = new Map<number, Value>();
  const visit = (value: Value): void => {
    if (found.has(value.id)) return;
    found.set(value.id, value);
    value.operands.forEach(visit);
  };
  visit(result);
  return { result, values: [...found.values()].sort((a, b) => a.id - b.id) };
}

/** What is computed at one loop depth. */
export function operationsAt(kernel: Kernel, depth: Depth): Value[] {
  return kernel.values.filter((value) => value.depth === depth && !isLeaf(value));
}

/** The values of one depth that deeper operations read, in order: constants are written where they are used. */
export function handedDown(kernel: Kernel, depth: Depth): Value[] {
  const read = new Set(kernel.values.filter((value) => value.depth !== depth).flatMap((value) => value.operands));
  return kernel.values.filter((value) => value.depth === depth && value.op !== 'constant' && read.has(value));
}

/** The operations that one nonce costs, where an addition, an exclusive or of up to three and a rotate are one each. */
export function costPerNonce(kernel: Kernel): number {
  return operationsAt(kernel, kernel.result.depth).length;
}
