/** Prints TypeScript: the host's part of the GPU kernel. */

import { JOB } from './algebra.ts';
import { handedDown, type KernelDescription } from './last-block.ts';
import { type Dialect, generatedBy, hex, indent, Names } from './print.ts';

/** How JavaScript and TypeScript are written. */
export const dialect: Dialect = {
  constant: (number) => hex(number),
  add: (terms) => `(${terms.join(' + ')}) | 0`,
  xor: (operands) => operands.join(' ^ '),
  rotr: (x, bits) => `(${x} >>> ${bits}) | (${x} << ${32 - bits})`,
  declare: (name, expression) => `const ${name} = ${expression};`,
};

const midstateOrTail = (name: string) => `${name[0] === 'h' ? 'midstate' : 'tail'}[${name.slice(1)}]`;

/** @returns the statements that fill `job` with the values that depend on the job only */
export function jobStatements(kernel: KernelDescription): string {
  const names = new Names(dialect).inputs(kernel, JOB, midstateOrTail);
  const statements = names.statements(kernel, JOB);
  return indent([...statements, ...handedDown(kernel, JOB).map((value, i) => `job[${i}] = ${names.of(value)};`)], 2);
}

/** @param kernel the kernel that the shader is printed from */
export function printGpuPreparation(kernel: KernelDescription, jobWords: number, hitCapacity: number): string {
  return `// ${generatedBy}

/** The length of the shader's job uniform in 32-bit words, with the padding at its end. */
export const JOB_WORDS = ${jobWords};

/** How many hits the shader's result has room for. Its count goes on past this. */
export const HIT_CAPACITY = ${hitCapacity};

/**
 * Computes the shader's job uniform.
 * @param midstate 8 words
 * @param tail 16 words, with lane and page in their places
 * @returns JOB_WORDS words
 */
export function prepareWords(midstate: Uint32Array, tail: Uint32Array): Uint32Array<ArrayBuffer> {
  const job = new Uint32Array(JOB_WORDS);
${jobStatements(kernel)}
  return job;
}
`;
}
