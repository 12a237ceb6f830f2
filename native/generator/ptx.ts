/**
 * Prints the GPU kernel as PTX, the assembly language of NVIDIA's virtual machine, which ptxas compiles for a chip. No
 * rig runs it: native/compilers/count.mjs counts what ptxas makes of it. Additions and exclusive ors have two operands
 * as in the SPIR-V that drivers get; ptxas joins them to instructions with three. A rotate by a constant is one
 * instruction, which ptxas would also make of two shifts and an or. A rotate by another distance is written as two
 * shifts and an or, because ptxas would not make one instruction of them. Uniforms are in constant memory, where
 * instructions can read their operands.
 */

import { COUNTER, JOB } from './algebra.ts';
import { type GpuStyle, hasUniformRotates, termsOf, unseenOf } from './gpu-styles.ts';
import { handedDown, type KernelDescription, operationsAt } from './last-block.ts';
import { type Dialect, generatedBy, hex, indent, Names } from './print.ts';
import { HIT_CAPACITY, jobWords } from './wgsl.ts';

/** Stands for the result in an instruction, until it is named. */
const RESULT = '@';

/** @returns instructions that combine the first two operands, then the result and the next operand, and so on */
const chain = (operands: readonly string[], instruction: (a: string, b: string) => string): string =>
  operands
    .slice(1)
    .map((operand, i) => instruction(i === 0 ? operands[0] : RESULT, operand))
    .join(' ');

const dialectOf = (style: GpuStyle): Dialect => ({
  constant: hex,
  add: (terms) =>
    chain(termsOf(style, terms), (a, b) =>
      style === 'multiplied adds' ? `mad.lo.u32 ${RESULT}, ${a}, one, ${b};` : `add.u32 ${RESULT}, ${a}, ${b};`,
    ),
  xor: (operands) => chain(operands, (a, b) => `xor.b32 ${RESULT}, ${a}, ${b};`),
  rotr: (x, bits) =>
    hasUniformRotates(style)
      ? `shr.u32 ${RESULT}, ${x}, rotate${bits}; shl.b32 a, ${x}, back${bits}; or.b32 ${RESULT}, ${RESULT}, a;`
      : `shf.r.wrap.b32 ${RESULT}, ${x}, ${x}, ${bits};`,
  declare: (name, instructions) => instructions.replaceAll(RESULT, name),
});

/** The offsets of the control uniform's fields: see wgsl.ts. */
const CONTROL = {
  base: 0,
  target7: 4,
  rotate16: 8,
  rotate12: 12,
  rotate8: 16,
  rotate7: 20,
  one: 24,
  row: 28,
  step: 32,
  number: 36,
} as const;

/**
 * @param kernel for a machine that does not loop over pages
 * @param workgroupSize invocations in a workgroup
 * @param trips counters that an invocation tries
 */
export function printPtx(
  kernel: KernelDescription,
  style: GpuStyle,
  { workgroupSize = 128, trips = 16 }: { readonly workgroupSize?: number; readonly trips?: number } = {},
): string {
  const words = handedDown(kernel, JOB).map((_, i) => `j${i}`);
  const names = new Names(dialectOf(style)).inputs(kernel, COUNTER).handedDown(kernel, JOB, (_, i) => words[i]);
  const statements = names.statements(kernel, COUNTER);
  const distances = unseenOf(style).filter((name) => name.startsWith('rotate'));
  const back = (distance: string) => distance.replace('rotate', 'back');
  const read = ['base', 'target7', 'row', 'step', 'number', ...unseenOf(style)] as (keyof typeof CONTROL)[];
  return `// ${generatedBy}
.version 6.4
.target sm_50
.address_size 64

.const .b32 control[10];
.const .b32 job[${jobWords(kernel)}];

.visible .entry scan(.param .u64 result) .reqntid ${workgroupSize}
{
  .reg .b32 x<${operationsAt(kernel, COUNTER).length}>, ${[...words, ...read, ...distances.map(back)].join(', ')};
  .reg .b32 a, b, zero, first, start, counter, i, slot, offset;
  .reg .b64 results, place;
  .reg .pred miss, full, more;
  ld.param.u64 results, [result];
${indent(
  read.map((name) => `ld.const.u32 ${name}, [control + ${CONTROL[name]}];`),
  2,
)}
${indent(
  words.map((name, i) => `ld.const.u32 ${name}, [job + ${4 * i}];`),
  2,
)}
${indent(
  distances.map((distance) => `sub.u32 ${back(distance)}, 32, ${distance};`),
  2,
)}
  ld.const.u32 zero, [control + ${CONTROL.one}];
  xor.b32 zero, zero, 1;
  mov.u32 a, %ctaid.x;
  mov.u32 b, %tid.x;
  mad.lo.u32 a, a, ${workgroupSize}, b;
  mov.u32 b, %ctaid.y;
  mad.lo.u32 a, b, row, a;
  mul.lo.u32 first, a, ${trips};
  mad.lo.u32 start, first, step, base;
  add.u32 number, number, first;
  mov.u32 i, 0;
LOOP:
  .pragma "nounroll";
  xor.b32 a, i, zero;
  mad.lo.u32 counter, a, step, start;
${indent(statements, 2)}
  setp.gt.u32 miss, ${names.of(kernel.result)}, target7;
  @miss bra NEXT;
  atom.global.add.u32 slot, [results], 1;
  setp.ge.u32 full, slot, ${HIT_CAPACITY};
  @full bra NEXT;
  add.u32 offset, number, i;
  mul.wide.u32 place, slot, 4;
  add.u64 place, place, results;
  st.global.u32 [place + 4], offset;
NEXT:
  add.u32 i, i, 1;
  setp.lt.u32 more, i, ${trips};
  @more bra LOOP;
  ret;
}
`;
}
