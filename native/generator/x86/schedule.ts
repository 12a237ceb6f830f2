/**
 * Puts the instructions for one vector of nonces in an order that keeps the pipes of a chip busy. A chip looks some 300
 * instructions ahead and starts those that are ready, but it chooses an instruction's pipe earlier, when the
 * instruction comes in. So instructions that become ready together should come in together, and those for which the
 * most others wait should come first.
 */

import type { Instruction, Vector } from './instruction.ts';

/**
 * How many instructions begin in the same cycle. Chips have three or four vector pipes, but on Golden Cove 2 and 3 are
 * equally fast, and 4 is 2 % slower. llvm-mca's Zen 2 and Zen 3 are 4 % faster with 2 than with 3.
 */
const WIDTH = 2;

/**
 * In cycles. A byte shuffle takes two on Zen 4, and one on Golden Cove. With two in this model, Zen 4 was 1.5 % faster,
 * and Golden Cove 3 to 4 %, also because fewer vectors are spilled in that order.
 */
const latencyOf = ({ mnemonic }: Instruction): number => (mnemonic === 'vpshufb' ? 2 : 1);

/**
 * List scheduling: each cycle takes instructions whose operands have been made, first those with the longest way to the
 * end, then those that came first. Simulated annealing, on models of how Golden Cove chooses pipes, found no faster
 * order: on the chip its orders were as fast as this one.
 */
export function schedule(instructions: readonly Instruction[]): Instruction[] {
  const nodes = graphOf(instructions);
  const scheduled: Instruction[] = [];
  let waiting = nodes.filter(({ missing }) => missing === 0);
  for (let cycle = 0; waiting.length > 0; cycle++) {
    const ready = waiting.filter(({ readyAt }) => readyAt <= cycle);
    ready.sort((a, b) => b.distance - a.distance || a.position - b.position);
    const begun = new Set(ready.slice(0, WIDTH));
    waiting = waiting.filter((node) => !begun.has(node));
    for (const { instruction, readers } of begun) {
      scheduled.push(instruction);
      for (const reader of readers) {
        reader.missing--;
        reader.readyAt = Math.max(reader.readyAt, cycle + latencyOf(instruction));
        if (reader.missing === 0) waiting.push(reader);
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
  /** The first cycle in which all operands that already have a pipe are made. */
  readyAt: number;
  /** The length of the longest way to the end, in cycles. */
  distance: number;
}

/** @param instructions each after those whose results it reads */
function graphOf(instructions: readonly Instruction[]): Node[] {
  const makers = new Map<Vector, Node>();
  const nodes = instructions.map((instruction, position) => {
    const node: Node = { instruction, position, readers: [], missing: 0, readyAt: 0, distance: 0 };
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
    node.distance = latencyOf(node.instruction) + Math.max(0, ...node.readers.map(({ distance }) => distance));
  }
  return nodes;
}
