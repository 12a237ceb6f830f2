/**
 * Puts the instructions for one vector of nonces in an order that keeps the pipes of a chip busy. A chip looks some 300
 * instructions ahead and starts those that are ready, but it chooses an instruction's pipe earlier, when the
 * instruction comes in. So instructions that become ready together should come in together, and those for which the
 * most others wait should come first.
 */

import type { Instruction, Vector } from './instruction.ts';

/**
 * How many instructions begin in the same cycle. Intel's chips have three vector pipes and AMD's have four. On Golden
 * Cove 3 and 4 are equally fast; from 5 on the order is almost the one that it was before.
 */
const WIDTH = 4;

/**
 * List scheduling: each cycle takes instructions whose operands were made in earlier cycles, first those with the
 * longest way to the end, then those that came first. All latencies count as one cycle. On Zen 4 a byte shuffle takes
 * two cycles: an order that takes this into account was 1.5 % faster there, and was not tried on other chips.
 */
export function schedule(instructions: readonly Instruction[]): Instruction[] {
  const nodes = graphOf(instructions);
  const scheduled: Instruction[] = [];
  let ready = nodes.filter(({ missing }) => missing === 0);
  while (ready.length > 0) {
    ready.sort((a, b) => b.distance - a.distance || a.position - b.position);
    const begun = ready.slice(0, WIDTH);
    ready = ready.slice(WIDTH);
    for (const { instruction, readers } of begun) {
      scheduled.push(instruction);
      for (const reader of readers) {
        reader.missing--;
        if (reader.missing === 0) ready.push(reader);
      }
    }
  }
  return scheduled;
}

interface Node {
  readonly instruction: Instruction;
  /** The position in the order before. */
  readonly position: number;
  /** The instructions that read the result, once for each operand that it is. */
  readonly readers: Node[];
  /** How many operands are still to be made. */
  missing: number;
  /** The length of the longest way to the end, in instructions. */
  distance: number;
}

/** @param instructions each after those whose results it reads */
function graphOf(instructions: readonly Instruction[]): Node[] {
  const makers = new Map<Vector, Node>();
  const nodes = instructions.map((instruction, position) => {
    const node: Node = { instruction, position, readers: [], missing: 0, distance: 1 };
    for (const operand of instruction.operands) {
      const maker = makers.get(operand);
      if (maker === undefined) continue;
      maker.readers.push(node);
      node.missing++;
    }
    if (typeof instruction.result === 'object') makers.set(instruction.result, node);
    return node;
  });
  for (const node of nodes.toReversed()) {
    node.distance = 1 + Math.max(0, ...node.readers.map(({ distance }) => distance));
  }
  return nodes;
}
