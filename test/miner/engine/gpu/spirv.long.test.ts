/** Checks Dawn's translation of the shaders: it must not add instructions to the loop over nonces. */

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { nameOf, VARIANTS } from '#pickaxe/miner/engine/gpu/tuning.js';
import { gpuKernel } from '../../../../native/generator/generate.ts';
import { operationsAt } from '../../../../native/generator/last-block.ts';
import { describeGpu, gpuEngine, softwareAdapter } from './adapter.ts';
import { count, loopOf, OP, readSpirv } from './spirv.ts';

const directory = mkdtempSync(join(tmpdir(), 'pickaxe-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Only Mesa's drivers write the shaders that they compile to files. */
const mesa = softwareAdapter?.startsWith('llvmpipe') ?? false;

/** Variants differ only in two constants of the pipeline, so the extremes stand for all of them. */
const variants = VARIANTS.filter(({ workgroupSize, trips }) => /^(64×8|256×32)$/.test(`${workgroupSize}×${trips}`)).map(
  (variant) => ({ name: nameOf(variant), variant }),
);

/**
 * The counts that follow from the kernel's description in SPIR-V, whose additions and exclusive ors take two operands.
 */
function expected() {
  const operations = operationsAt(gpuKernel, gpuKernel.result.depth);
  const pairs = (op: string) =>
    operations.filter((each) => each.op === op).reduce((sum, { operands }) => sum + operands.length - 1, 0);
  const rotates = operations.filter(({ op }) => op === 'rotr').length;
  const sumsOfTwo = operations.filter(({ op, operands }) => op === 'add' && operands.length === 2).length;
  return { adds: pairs('add'), sumsOfTwo, xors: pairs('xor'), rotates };
}

describeGpu('the shaders as SPIR-V', () => {
  describe.runIf(mesa).each(variants)('$name', ({ variant }) => {
    test('has only the kernel’s operations in its loop', async () => {
      const dump = mkdtempSync(join(directory, 'dump-'));
      const environment = { MESA_SPIRV_DUMP_PATH: dump, MESA_SHADER_CACHE_DISABLE: 'true' };
      const engine = gpuEngine({ variant, environment });
      await engine.open();
      await engine.close();

      const modules = readdirSync(dump).map((file) => readSpirv(readFileSync(join(dump, file))));
      expect(modules.length).toBeGreaterThan(0);
      for (const module of modules) {
        const loop = loopOf(module);
        const { adds, sumsOfTwo, xors, rotates } = expected();
        const zeros = variant.shader === 'wgsl-added-zeros' ? sumsOfTwo : 0;
        // The counter of a trip, the next trip, and the number of a hit.
        expect(count(loop, OP.IAdd)).toBe(adds + zeros + 3);
        // The step of counters.
        expect(count(loop, OP.IMul)).toBe((variant.shader === 'wgsl-multiplied-adds' ? adds : 0) + 1);
        // One more exclusive or hides that counters are consecutive.
        expect(count(loop, OP.BitwiseXor)).toBe(xors + 1);
        for (const op of [OP.ShiftRightLogical, OP.ShiftLeftLogical, OP.BitwiseOr]) {
          expect(count(loop, op)).toBe(rotates);
        }
        // The trips, the target, and the room for hits. A guard of Tint's would compare once more, two words at a time.
        expect(count(loop, OP.ULessThan) + count(loop, OP.ULessThanEqual)).toBe(3);
        expect(count(loop, OP.SelectionMerge)).toBe(3);
        expect(count(loop, OP.FunctionCall)).toBe(0);
        // One clamp, of a hit's place in the list, after the comparison that hardly any nonce passes.
        const [clamp, ...others] = loop.flatMap(({ op }, i) => (op === OP.ExtInst ? i : []));
        expect(others).toEqual([]);
        const comparison = loop.findIndex(({ op }) => op === OP.ULessThanEqual);
        expect(clamp).toBeGreaterThan(comparison);
      }
    });
  });
});
