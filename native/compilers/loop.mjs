// Finds what a GPU executes for each nonce in the disassembly of a kernel: the loop over nonces, without the part that
// only hits run.

/**
 * An instruction of a disassembly.
 * @typedef {object} Instruction
 * @property {string} op the mnemonic, without predicates
 * @property {string} [label] the label in front of it
 * @property {string} [target] the label that it branches to
 * @property {boolean} [memory] whether it reads or writes memory, as only hits do
 * @property {number} [lanes] how many lanes it works on, where instructions differ in that
 */

/**
 * @param text a disassembly
 * @param label matches a line with a label, which it captures
 * @param read returns the instruction of a line without its label; undefined for other lines
 * @returns {Instruction[]} the instructions, with the last label in front of each
 */
export function parseDisassembly(text, label, read) {
  let name;
  return text.split('\n').flatMap((line) => {
    name = label.exec(line)?.[1] ?? name;
    const instruction = read(line);
    if (!instruction) return [];
    const labelled = name === undefined ? instruction : { ...instruction, label: name };
    name = undefined;
    return [labelled];
  });
}

/** Fewer instructions than any kernel needs for one nonce. */
const LEAST = 500;

/**
 * @param {Instruction[]} instructions of the whole kernel, in order
 * @returns {Instruction[]} those that run once in a trip of the loop that finds no hit
 * @throws Error when the kernel has no loop that is long enough for a hash
 */
export function commonPath(instructions) {
  const places = new Map(instructions.flatMap(({ label }, i) => (label === undefined ? [] : [[label, i]])));
  const targetOf = ({ target }) => places.get(target);
  const end = instructions.findLastIndex((instruction, i) => targetOf(instruction) + LEAST < i);
  if (end < 0) throw new Error(`the disassembly of ${instructions.length} instructions shows no loop over nonces`);
  const path = [];
  for (let i = targetOf(instructions[end]); i <= end; i++) {
    path.push(instructions[i]);
    const target = targetOf(instructions[i]);
    // A branch over instructions that access memory is taken, since hardly any nonce is a hit.
    if (target > i && target <= end && instructions.slice(i, target).some(({ memory }) => memory)) i = target - 1;
  }
  return path;
}

/**
 * Counts where instructions have different numbers of lanes.
 * @param path with `lanes`
 * @param invocations how many a thread has
 * @param least lanes that a unit takes at a time, even of an instruction that has fewer
 * @returns instructions of as many lanes as a thread has invocations: all, and by kind
 */
export function wholeInstructions(path, invocations, least) {
  const operations = {};
  let lanes = 0;
  for (const { op, lanes: wide } of path) {
    operations[op] = (operations[op] ?? 0) + wide / invocations;
    lanes += Math.max(wide, least);
  }
  const often = Object.entries(operations).filter(([, n]) => n >= 1);
  return { instructions: Math.round(lanes / invocations), operations: Object.fromEntries(often) };
}

/** @returns how many instructions there are of each kind, most frequent first */
export function histogram(instructions, kindOf = ({ op }) => op) {
  const counts = new Map();
  for (const instruction of instructions) {
    const kind = kindOf(instruction);
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return Object.fromEntries([...counts].sort(([, a], [, b]) => b - a));
}
