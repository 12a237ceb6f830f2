// Computes the least number of instructions that a nonce takes on each instruction set, from the operations of the
// kernel's description: additions, exclusive ors and rotates, one comparison, and one addition for the next counter.

import { COUNTER } from '../build/generator/algebra.js';
import { describe, operationsAt } from '../build/generator/last-block.js';

/**
 * `addends` and `xored` are how many operands an addition and an exclusive or can have, and `rotate` how many
 * instructions a rotate takes. A set with `pipes` has two that work side by side.
 */
export const INSTRUCTION_SETS = {
  gcn: { addends: 2, xored: 2, rotate: 1, why: 'v_alignbit_b32 rotates; nothing takes three operands' },
  vega: { addends: 3, xored: 2, rotate: 1, why: 'v_add3_u32 adds three, v_alignbit_b32 rotates' },
  rdna: { addends: 3, xored: 3, rotate: 1, why: 'v_add3_u32 and v_xor3_b32 take three, v_alignbit_b32 rotates' },
  pascal: {
    addends: 3,
    xored: 3,
    rotate: 2,
    why: 'IADD3 and LOP3 take three operands; SHF rotates at half the rate',
  },
  nvidia: {
    addends: 2,
    xored: 3,
    rotate: 1,
    pipes: true,
    why: 'LOP3 and SHF run on the ALU pipe only; the FMA pipe adds two at a time as IMAD, beside it',
  },
  gen9: { addends: 2, xored: 2, rotate: 3, why: 'no rotate: two shifts and an or' },
  gen12: { addends: 2, xored: 2, rotate: 1, why: 'rol rotates; nothing takes three operands' },
  xe: { addends: 3, xored: 3, rotate: 1, why: 'add3 and bfn take three operands, rol rotates' },
};

/**
 * @param addends how many terms an addition has at most
 * @returns for each operation of a nonce its kind and number of operands. Sums that only another sum reads are part of
 *   that one if it has room, as compilers do it
 */
export function operationsOf(addends) {
  const kernel = describe({ addends, loopsOverPages: false, result: 'plain' });
  const operations = operationsAt(kernel, COUNTER);
  const readers = new Map();
  for (const value of kernel.values) {
    for (const operand of value.operands) readers.set(operand, [...(readers.get(operand) ?? []), value]);
  }
  const terms = new Map(operations.map((value) => [value, value.operands.length]));
  const merged = new Set();
  for (const value of operations) {
    const [reader, ...others] = readers.get(value) ?? [];
    if (value.op !== 'add' || reader?.op !== 'add' || others.length > 0) continue;
    const together = terms.get(value) + terms.get(reader) - 1;
    if (together > addends) continue;
    terms.set(reader, together);
    merged.add(value);
  }
  return operations
    .filter((value) => !merged.has(value))
    .map((value) => ({ op: value.op, operands: terms.get(value) }));
}

/** @returns the least number of instructions a nonce; on pipes side by side, that of the busiest pipe */
export function boundOf(set) {
  const { addends, xored, rotate, pipes } = INSTRUCTION_SETS[set];
  const operations = operationsOf(addends);
  const split = (kind, most) =>
    operations
      .filter(({ op }) => op === kind)
      .reduce((sum, { operands }) => sum + Math.ceil((operands - 1) / (most - 1)), 0);
  const adds = split('add', addends) + 1;
  const others = split('xor', xored) + rotate * operations.filter(({ op }) => op === 'rotr').length + 1;
  // Each of the two pipes takes an instruction every other cycle, and one is issued in each.
  return pipes ? Math.max(others, adds, (others + adds) / 2) : adds + others;
}
