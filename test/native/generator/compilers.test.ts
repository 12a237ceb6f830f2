/** Runs the kernels that only compilers get as JavaScript: they must compute the same as the shaders. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { prepareWords } from '#pickaxe/miner/engine/gpu/prepare.generated.js';
import { hashTail, type Puzzle, placeNonce } from '#pickaxe/protocol/chain/job.js';
import { gpuKernel } from '../../../native/generator/generate.ts';
import { GPU_STYLES, type GpuStyle } from '../../../native/generator/gpu-styles.ts';
import { printOpenCl } from '../../../native/generator/opencl.ts';
import { printPtx } from '../../../native/generator/ptx.ts';

type Word7 = (job: Uint32Array, counter: number) => number;

/** The names that both languages read from the control uniform. */
const CONTROL =
  'const rotate16 = 16, rotate12 = 12, rotate8 = 8, rotate7 = 7, one = 1, zero = 0, back16 = 16, back12 = 20, back8 = 24, back7 = 25;';

function word7OfOpenCl(text: string): Word7 {
  const statements = [...text.matchAll(/^ *const uint ([jx]\d+) = (.*);$/gm)].map(([, name, expression]) => {
    const javaScript = expression.replace(/\b(0x[0-9a-f]+|\d+)u\b/g, '$1').replaceAll('>>', '>>>');
    return `const ${name} = (${javaScript}) >>> 0;`;
  });
  const [, result] = text.match(/if \((.*) <= target7\)/)!;
  return new Function('job', 'counter', `${CONTROL}\n${statements.join('\n')}\nreturn (${result}) >>> 0;`) as never;
}

/** PTX's instructions in JavaScript: what is assigned to the first operand. */
const PTX: Record<string, (a: string, b: string, c: string) => string> = {
  'add.u32': (a, b) => `${a} + ${b}`,
  'xor.b32': (a, b) => `${a} ^ ${b}`,
  'or.b32': (a, b) => `${a} | ${b}`,
  'shr.u32': (a, b) => `${a} >>> ${b}`,
  'shl.b32': (a, b) => `${a} << ${b}`,
  'mad.lo.u32': (a, b, c) => `Math.imul(${a}, ${b}) + ${c}`,
  'shf.r.wrap.b32': (a, b, c) => `(${a} >>> ${c}) | (${b} << (32 - ${c}))`,
};

function word7OfPtx(text: string): Word7 {
  const body = text.slice(text.indexOf('mad.lo.u32 counter'), text.indexOf('setp.gt.u32 miss')).split(';').slice(1, -1);
  const loads = [...text.matchAll(/ld\.const\.u32 (j\d+), \[job \+ (\d+)\];/g)].map(
    ([, name, offset]) => `let ${name} = job[${Number(offset) / 4}];`,
  );
  const variables = new Set(['a']);
  const statements = body.map((instruction) => {
    const [op, ...operands] = instruction.trim().split(/,? +/);
    const [to, a, b, c] = operands;
    variables.add(to);
    return `${to} = (${PTX[op](a, b, c)}) >>> 0;`;
  });
  const [, result] = text.match(/setp\.gt\.u32 miss, (\w+), target7/)!;
  const declared = `let ${[...variables].join(', ')};`;
  return new Function(
    'job',
    'counter',
    [CONTROL, declared, ...loads, ...statements, `return ${result};`].join('\n'),
  ) as never;
}

const word = fc.integer({ min: 0, max: 0xffff_ffff });
const words = (count: number) => fc.array(word, { minLength: count, maxLength: count });
const half = fc.integer({ min: 0, max: 0xffff });

describe.each(Object.keys(GPU_STYLES) as GpuStyle[])('the kernel with %s', (style) => {
  test.each([
    ['OpenCL C', word7OfOpenCl(printOpenCl(gpuKernel, style))],
    ['PTX', word7OfPtx(printPtx(gpuKernel, style))],
  ])('computes hash word 7 as %s', (_, word7) => {
    fc.assert(
      fc.property(words(8), words(8), half, half, word, (midstate, tail, lane, page, counter) => {
        const puzzle: Puzzle = {
          midstate: Uint32Array.from(midstate),
          tail: Uint32Array.from({ length: 16 }, (_, i) => tail[i] ?? 0),
          target: new Uint32Array(8),
        };
        placeNonce(puzzle.tail, { lane, step: 1, page, counter: 0 });
        expect(word7(prepareWords(puzzle.midstate, puzzle.tail), counter)).toBe(
          hashTail(puzzle, { lane, step: 1, page, counter })[7],
        );
      }),
    );
  });
});
