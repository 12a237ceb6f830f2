// Counts the instructions of the native kernels' inner loops, from the disassembly of the addon.

import { spawnSync } from 'node:child_process';

/**
 * The kernels whose inner loop is a separate function, in assembly. The inner loops of others are part of their search.
 */
const functionsOf = (kernel) => [`scan_${kernel}`, `search_${kernel}`];

const VECTOR_ALU = /^v?p(add|xor|or|and|andn|ror|sll|srl|shuf|ternlog|cmpeq|testnm|test|unpck)/;
const SCALAR_ALU = /^(add|xor|or|and|ro[rl]x?|sh[lr]|lea|test|cmp)/;

/**
 * @param addon the path of the native addon
 * @returns for each given kernel the counts of one step of its inner loop: `instructions`, and among them `alu`,
 *   `loads` (including those of memory operands) and `stores`
 * @throws Error when there is no objdump (Debian's package binutils), or no such loop in its output
 */
export function innerLoops(addon, kernels) {
  const { stdout, error } = spawnSync('objdump', ['-d', '--no-show-raw-insn', addon], {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  if (error) throw new Error(`objdump could not be run (Debian: apt-get install binutils): ${error.message}`);
  const functions = new Map();
  for (const block of stdout.split('\n\n')) {
    const name = /^[0-9a-f]+ <(\w+)>:/m.exec(block)?.[1];
    if (name) functions.set(name, parse(block));
  }
  return Object.fromEntries(
    kernels.map((kernel) => {
      const name = functionsOf(kernel).find((candidate) => functions.has(candidate));
      const loop = name && innerLoop(functions.get(name));
      if (!loop) throw new Error(`${addon} shows no loop of ${kernel}: build it again, not stripped`);
      return [kernel, count(loop)];
    }),
  );
}

function parse(block) {
  return block.split('\n').flatMap((line) => {
    const [, address, mnemonic, operands = ''] = /^\s*([0-9a-f]+):\s+(\S+)\s*(.*)$/.exec(line) ?? [];
    return address ? [{ address: Number.parseInt(address, 16), mnemonic, operands }] : [];
  });
}

/** @returns the shortest loop that contains a whole hash */
function innerLoop(instructions) {
  const loops = instructions.flatMap(({ address, mnemonic, operands }, end) => {
    const target = Number.parseInt(operands, 16);
    if (!mnemonic.startsWith('j') || !(target < address)) return [];
    return [
      instructions.slice(
        instructions.findIndex((to) => to.address === target),
        end + 1,
      ),
    ];
  });
  return loops.filter(({ length }) => length > 900).sort((a, b) => a.length - b.length)[0];
}

function count(loop) {
  const vector = loop.filter(({ mnemonic }) => VECTOR_ALU.test(mnemonic)).length;
  const alu = vector > 100 ? VECTOR_ALU : SCALAR_ALU;
  const inMemory = loop.filter(({ operands }) => operands.includes('('));
  const stores = inMemory.filter(({ mnemonic, operands }) => /mov/.test(mnemonic) && operands.endsWith(')'));
  return {
    instructions: loop.length,
    alu: loop.filter(({ mnemonic }) => alu.test(mnemonic)).length,
    loads: inMemory.length - stores.length,
    stores: stores.length,
  };
}
