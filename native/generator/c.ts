/** Prints the kernel as C, with the macros that each instruction set defines (native/kernel.h). */

import { COUNTER, JOB, NONCE, PAGE } from './algebra.ts';
import { costPerNonce, handedDown, type KernelDescription } from './last-block.ts';
import { type Dialect, generatedBy, hex, indent, Names } from './print.ts';

const dialect: Dialect = {
  constant: (number) => `SET1(${hex(number)}u)`,
  add: ([a, b]) => `ADD(${a}, ${b})`,
  xor: (operands) => `${operands.length === 3 ? 'XOR3' : 'XOR'}(${operands.join(', ')})`,
  rotr: (x, bits) => `ROR${bits}(${x})`,
  declare: (name, expression) => `const V ${name} = ${expression};`,
};

const midstateOrTail = (name: string) => `SET1(${name[0] === 'h' ? 'midstate' : 'tail'}[${name.slice(1)}])`;

/** @param kernel for a machine that adds two terms, loops over pages and rotates its result */
export function printC(kernel: KernelDescription): string {
  const perJob = new Names(dialect).inputs(kernel, JOB, midstateOrTail);
  const jobStatements = perJob.statements(kernel, JOB);
  const jobWords = handedDown(kernel, JOB).map((value, i) => `job[${i}] = ${perJob.of(value)};`);

  const perCounter = new Names(dialect).inputs(kernel, COUNTER).handedDown(kernel, JOB, (_, i) => `job[${i}]`);
  const counterStatements = perCounter.statements(kernel, COUNTER);
  const counterWords = handedDown(kernel, COUNTER).map((value, i) => `table[${i}] = ${perCounter.of(value)};`);

  const perNonce = new Names(dialect)
    .handedDown(kernel, JOB, (_, i) => `job[${i}]`)
    .handedDown(kernel, COUNTER, (_, i) => `table[${i}]`)
    .inputs(kernel, PAGE);
  const nonceStatements = perNonce.statements(kernel, NONCE);
  return `/* ${generatedBy} */

/* How many words a nonce needs that depend on the job only, and on the counter only. */
#define JOB_WORDS ${jobWords.length}
#define COUNTER_WORDS ${counterWords.length}

/* midstate: 8 words; tail: 16 words with the lane in its place; job: JOB_WORDS results */
static inline void prepare_job_words(const uint32_t *midstate, const uint32_t *tail, V *job) {
${indent([...jobStatements, ...jobWords], 2)}
}

static inline void prepare_counter(const V *job, V counter, V *table) {
${indent([...counterStatements, ...counterWords], 2)}
}

/* Computes hash word 7, rotated left by 7, in ${costPerNonce(kernel)} operations. */
static inline V rotated_word7(const V *job, const V *table, V page) {
${indent(nonceStatements, 2)}
  return ${perNonce.of(kernel.result)};
}
`;
}
