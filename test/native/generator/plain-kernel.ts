/**
 * The CPU kernel as plain JavaScript, printed from the same description as all others: slow, and easy to check others
 * against.
 */

import { COUNTER, JOB, NONCE, PAGE } from '../../../native/generator/algebra.ts';
import { cpuKernel } from '../../../native/generator/generate.ts';
import { handedDown, operationsAt } from '../../../native/generator/last-block.ts';
import { indent, Names } from '../../../native/generator/print.ts';
import { dialect, jobStatements } from '../../../native/generator/ts.ts';

export interface PlainKernel {
  /** Fills `job` from the midstate (8 words) and the tail (16 words, with the lane in its place). */
  readonly prepareJobWords: (midstate: Uint32Array, tail: Uint32Array, job: Int32Array) => void;
  /** Fills `table` with the words of `counters` counters from `counter` on. */
  readonly prepareCounters: (job: Int32Array, counter: number, counters: number, table: Int32Array) => void;
  /** A counter is a hit when no bit of `mask` is set in hash word 7 rotated left by 7. @returns the number of hits */
  readonly searchRow: (
    job: Int32Array,
    table: Int32Array,
    counters: number,
    page: number,
    mask: number,
    hits: Uint32Array,
  ) => number;
}

export const JOB_WORDS = handedDown(cpuKernel, JOB).length;
export const COUNTER_WORDS = handedDown(cpuKernel, COUNTER).length;

function print(): string {
  const jobWords = handedDown(cpuKernel, JOB);
  const counterWords = handedDown(cpuKernel, COUNTER);
  const perCounter = new Names(dialect).inputs(cpuKernel, COUNTER).handedDown(cpuKernel, JOB, (_, i) => `job[${i}]`);
  const counterStatements = perCounter.statements(cpuKernel, COUNTER);
  const filling = counterWords.map((value, i) => `table[at + ${i}] = ${perCounter.of(value)};`);
  const perNonce = new Names(dialect)
    .handedDown(cpuKernel, JOB, (_, i) => `j${i}`)
    .handedDown(cpuKernel, COUNTER, (_, i) => `t${i}`)
    .inputs(cpuKernel, PAGE);
  const nonceStatements = perNonce.statements(cpuKernel, NONCE);
  const readPerNonce = new Set(operationsAt(cpuKernel, NONCE).flatMap((value) => value.operands));
  const loads = jobWords.flatMap((value, i) => (readPerNonce.has(value) ? [`const j${i} = job[${i}];`] : []));
  return `
export function prepareJobWords(midstate, tail, job) {
${jobStatements(cpuKernel)}
}
export function prepareCounters(job, counter, counters, table) {
  for (let at = 0; at < counters * ${COUNTER_WORDS}; at += ${COUNTER_WORDS}, counter++) {
${indent([...counterStatements, ...filling], 4)}
  }
}
export function searchRow(job, table, counters, page, mask, hits) {
${indent(loads, 2)}
  let found = 0;
  for (let i = 0, at = 0; i < counters; i++) {
${indent(
  counterWords.map((_, i) => `const t${i} = table[at++];`),
  4,
)}
${indent(nonceStatements, 4)}
    if ((${perNonce.of(cpuKernel.result)} & mask) === 0) hits[found++] = i;
  }
  return found;
}
`;
}

export async function plainKernel(): Promise<PlainKernel> {
  return (await import(`data:text/javascript,${encodeURIComponent(print())}`)) as PlainKernel;
}
