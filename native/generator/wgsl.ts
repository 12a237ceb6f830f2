/** Prints the kernel as WGSL. A dispatch searches one page, so only the counter varies. */

import { COUNTER, JOB } from './algebra.ts';
import { GPU_STYLES, type GpuStyle, gpuDialect, unseenOf } from './gpu-styles.ts';
import { costPerNonce, handedDown, type KernelDescription } from './last-block.ts';
import { type Dialect, generatedBy, indent, Names } from './print.ts';

/**
 * How many hits one dispatch can report. At real targets there are a few hits at most. After a dispatch with more hits
 * than this, the range is searched again in parts. The smallest part is a workgroup, so this must be the number of
 * counters of the largest workgroup: 256 × 32.
 */
export const HIT_CAPACITY = 8192;

/** @returns the length of the job uniform in words: a multiple of four, because it is an array of vectors */
export const jobWords = (kernel: KernelDescription): number => Math.ceil(handedDown(kernel, JOB).length / 4) * 4;

/** @param kernel for a machine that does not loop over pages */
export function printWgsl(kernel: KernelDescription, style: GpuStyle): string {
  const dialect: Dialect = { ...gpuDialect(style), declare: (name, expression) => `let ${name} = ${expression};` };
  const words = handedDown(kernel, JOB).map((_, i) => `let j${i} = job[${i >> 2}].${'xyzw'[i & 3]};`);
  const unseen = unseenOf(style).map((name) => `let ${name} = control.${name};`);
  const names = new Names(dialect).inputs(kernel, COUNTER).handedDown(kernel, JOB, (_, i) => `j${i}`);
  const statements = names.statements(kernel, COUNTER);
  return `// ${generatedBy}
//
// Hashes the last blake2s block of a header for the counters of one page: ${costPerNonce(kernel)} operations and a comparison per nonce.
// ${GPU_STYLES[style]}
//
// A dispatch of x × y workgroups searches x · y · WORKGROUP_SIZE · COUNTERS_PER_INVOCATION counters. Their message words are
// base, base + step, base + 2 · step … (modulo 2^32). A hit is a counter whose hash word 7 is at most target7. It is reported
// by its number in the batch, where the dispatch's first counter has the given number.
//
// group 0, binding 0, uniform (40 bytes): base, target7, rotate16 = 16, rotate12 = 12, rotate8 = 8, rotate7 = 7, one = 1, row = x · WORKGROUP_SIZE, step, number
// group 0, binding 1, uniform (${4 * jobWords(kernel)} bytes): the job's words, from prepareWords()
// group 0, binding 2, storage (${4 + 4 * HIT_CAPACITY} bytes): count of hits (set it to 0 before), then the numbers of the first ${HIT_CAPACITY} hits

override WORKGROUP_SIZE: u32 = 128u;
override COUNTERS_PER_INVOCATION: u32 = 16u;

struct Control {
  base: u32,
  target7: u32,
  rotate16: u32,
  rotate12: u32,
  rotate8: u32,
  rotate7: u32,
  one: u32,
  row: u32,
  step: u32,
  number: u32,
}

struct Result {
  count: atomic<u32>,
  numbers: array<u32, ${HIT_CAPACITY}>,
}

@group(0) @binding(0) var<uniform> control: Control;
@group(0) @binding(1) var<uniform> job: array<vec4<u32>, ${jobWords(kernel) / 4}>;
@group(0) @binding(2) var<storage, read_write> result: Result;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let first = (id.y * control.row + id.x) * COUNTERS_PER_INVOCATION;
  let step = control.step;
  let start = control.base + first * step;
  let number = control.number + first;
  let target7 = control.target7;
  let zero = control.one ^ 1u;
${indent([...unseen, ...words], 2)}
  // Tint adds a guard to loops unless the trip count is fixed and the step is 1.
  for (var i = 0u; i < COUNTERS_PER_INVOCATION; i++) {
    // If compilers knew that counters are consecutive, LLVM's would add them up in many registers, and need a third more
    // instructions.
    let counter = start + (i ^ zero) * step;
${indent(statements, 4)}
    if (${names.of(kernel.result)} <= target7) {
      let slot = atomicAdd(&result.count, 1u);
      if (slot < ${HIT_CAPACITY}u) {
        result.numbers[slot] = number + i;
      }
    }
  }
}
`;
}
