/** Prints TypeScript: the CPU kernel that runs everywhere, and the host's part of the GPU kernel. */

import { COUNTER, JOB, NONCE, PAGE } from './algebra.ts';
import { handedDown, type KernelDescription, operationsAt } from './last-block.ts';
import { type Dialect, generatedBy, hex, indent, Names } from './print.ts';

const dialect: Dialect = {
  constant: (number) => hex(number),
  add: (terms) => `(${terms.join(' + ')}) | 0`,
  xor: (operands) => operands.join(' ^ '),
  rotr: (x, bits) => `(${x} >>> ${bits}) | (${x} << ${32 - bits})`,
  declare: (name, expression) => `const ${name} = ${expression};`,
};

const midstateOrTail = (name: string) => `${name[0] === 'h' ? 'midstate' : 'tail'}[${name.slice(1)}]`;

/** @returns the statements that fill `job` with the values that depend on the job only */
function jobStatements(kernel: KernelDescription): string {
  const names = new Names(dialect).inputs(kernel, JOB, midstateOrTail);
  const statements = names.statements(kernel, JOB);
  return indent([...statements, ...handedDown(kernel, JOB).map((value, i) => `job[${i}] = ${names.of(value)};`)], 2);
}

/** @param kernel for a machine that loops over pages and rotates its result */
export function printCpuKernel(kernel: KernelDescription): string {
  const jobWords = handedDown(kernel, JOB);
  const counterWords = handedDown(kernel, COUNTER);

  const perCounter = new Names(dialect).inputs(kernel, COUNTER).handedDown(kernel, JOB, (_, i) => `job[${i}]`);
  const counterStatements = perCounter.statements(kernel, COUNTER);
  const filling = counterWords.map((value, i) => `table[at + ${i}] = ${perCounter.of(value)};`);

  const perNonce = new Names(dialect)
    .handedDown(kernel, JOB, (_, i) => `j${i}`)
    .handedDown(kernel, COUNTER, (_, i) => `t${i}`)
    .inputs(kernel, PAGE);
  const nonceStatements = perNonce.statements(kernel, NONCE);
  const readPerNonce = new Set(operationsAt(kernel, NONCE).flatMap((value) => value.operands));
  const loads = jobWords.flatMap((value, i) => (readPerNonce.has(value) ? [`const j${i} = job[${i}];`] : []));
  return `// ${generatedBy}

/** How many words a nonce needs that depend on the job only, and on the counter only. */
export const JOB_WORDS = ${jobWords.length};
export const COUNTER_WORDS = ${counterWords.length};

/** Fills \`job\` (JOB_WORDS words) from the midstate (8 words) and the tail (16 words, with the lane in its place). */
export function prepareJobWords(midstate: Uint32Array, tail: Uint32Array, job: Int32Array): void {
${jobStatements(kernel)}
}

/** Fills \`table\` (COUNTER_WORDS words per counter) for \`counters\` counters from \`counter\` on. */
export function prepareCounters(job: Int32Array, counter: number, counters: number, table: Int32Array): void {
  for (let at = 0; at < counters * COUNTER_WORDS; at += COUNTER_WORDS, counter++) {
${indent([...counterStatements, ...filling], 4)}
  }
}

/**
 * Searches the counters of the table on one page. A counter is a hit when no bit of \`mask\` is set in hash word 7 rotated
 * left by 7.
 * @param hits receives the hits, as offsets from the first counter; it must have room for all counters
 * @returns the number of hits
 */
export function searchRow(
  job: Int32Array,
  table: Int32Array,
  counters: number,
  page: number,
  mask: number,
  hits: Uint32Array,
): number {
${indent(loads, 2)}
  let found = 0;
  for (let i = 0, at = 0; i < counters; i++) {
${indent(
  counterWords.map((_, i) => `const t${i} = table[at++];`),
  4,
)}
${indent(nonceStatements, 4)}
    if ((${perNonce.of(kernel.result)} & mask) === 0) hits[found++] = i;
  }
  return found;
}
`;
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
