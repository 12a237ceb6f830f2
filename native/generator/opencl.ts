/**
 * Prints the GPU kernel as OpenCL C, for Intel's offline compiler and clang. No rig runs it: native/compilers/count.mjs
 * counts what compilers make of it.
 */

import { COUNTER, JOB } from './algebra.ts';
import { type GpuStyle, gpuDialect, unseenOf } from './gpu-styles.ts';
import { handedDown, type KernelDescription } from './last-block.ts';
import { type Dialect, generatedBy, indent, Names } from './print.ts';
import { HIT_CAPACITY } from './wgsl.ts';

/**
 * @param kernel for a machine that does not loop over pages
 * @param workgroupSize invocations in a workgroup
 * @param trips counters that an invocation tries
 */
export function printOpenCl(
  kernel: KernelDescription,
  style: GpuStyle,
  { workgroupSize = 128, trips = 16 }: { readonly workgroupSize?: number; readonly trips?: number } = {},
): string {
  const declare: Dialect['declare'] = (name, expression) => `const uint ${name} = ${expression};`;
  const names = new Names({ ...gpuDialect(style), declare })
    .inputs(kernel, COUNTER)
    .handedDown(kernel, JOB, (_, i) => `j${i}`);
  const words = handedDown(kernel, JOB).map((_, i) => declare(`j${i}`, `job[${i}]`));
  const unseen = unseenOf(style).map((name) => declare(name, `control->${name}`));
  const statements = names.statements(kernel, COUNTER);
  return `// ${generatedBy}

typedef struct { uint base, target7, rotate16, rotate12, rotate8, rotate7, one, row, step, number; } Control;

__attribute__((reqd_work_group_size(${workgroupSize}, 1, 1)))
kernel void scan(constant Control *control, constant uint *job, global uint *result) {
  const uint first = ((uint)get_global_id(1) * control->row + (uint)get_global_id(0)) * ${trips}u;
  const uint step = control->step;
  const uint start = control->base + first * step;
  const uint number = control->number + first;
  const uint target7 = control->target7;
  const uint zero = control->one ^ 1u;
${indent([...unseen, ...words], 2)}
  #pragma unroll 1
  for (uint i = 0; i < ${trips}u; i++) {
    const uint counter = start + (i ^ zero) * step;
${indent(statements, 4)}
    if (${names.of(kernel.result)} <= target7) {
      const uint slot = atomic_inc(result);
      if (slot < ${HIT_CAPACITY}u) result[1 + slot] = number + i;
    }
  }
}
`;
}
