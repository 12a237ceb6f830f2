/** Compares one variant of the shaders, as it runs on the GPU, with the reference. */

import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { GpuEngine } from '#pickaxe/miner/engine/gpu/gpu-engine.js';
import { nameOf, type Variant, workgroupCounters } from '#pickaxe/miner/engine/gpu/tuning.js';
import { toHex } from '#pickaxe/protocol/chain/bytes.js';
import { type Job, type Puzzle, solves } from '#pickaxe/protocol/chain/job.js';
import { COUNTERS, joinNonce, type Range } from '#pickaxe/protocol/chain/nonce.js';
import { everythingSolves, jobOf, someHeaderHex } from '../../../interfaces/jobs.ts';
import { Rectangle } from '../../../interfaces/rectangle.ts';
import { anyRange, easyTarget, solutionsIn } from '../cpu/puzzles.ts';
import { describeGpu, gpuEngine } from './adapter.ts';

const never = new AbortController().signal;
const byValue = (a: bigint, b: bigint) => (a < b ? -1 : Number(a > b));

/** Number of examples. Each costs a round trip through the child process and the GPU. */
const RUNS = 40;

async function searchAll(engine: GpuEngine, job: Job, range: Range): Promise<bigint[]> {
  const ranges = new Rectangle(range);
  const reports = [];
  for await (const report of engine.search(job, ranges, never)) reports.push(report);
  ranges.expectUsedUp();
  ranges.expectBalanced(reports);
  return reports.flatMap(({ candidates }) => candidates).sort(byValue);
}

const reference = (puzzle: Puzzle, range: Range): bigint[] => solutionsIn(puzzle, range).map(joinNonce).sort(byValue);

const bytes = (count: number) => fc.uint8Array({ minLength: count, maxLength: count });
/** Targets from one where hardly anything solves to one where nearly everything does. */
const anyTarget = fc.tuple(bytes(28), fc.nat(0xffff_ffff), fc.nat(31)).map(([low, top, shift]) => {
  const target = new Uint8Array(32);
  target.set(low);
  new DataView(target.buffer).setUint32(28, top >>> shift, true);
  return toHex(target);
});

export function shaderProperties(variant: Variant): void {
  describeGpu(`the WGSL ${nameOf(variant)}`, () => {
    let engine: GpuEngine;
    beforeAll(async () => {
      engine = gpuEngine({ variant });
      await engine.open();
    });
    afterAll(() => engine.close());

    test('agrees with the reference on any header, target and range', async () => {
      const property = fc.asyncProperty(bytes(286), anyTarget, anyRange, async (header, target, range) => {
        const job = jobOf(toHex(header), target);
        expect(await searchAll(engine, job, range)).toEqual(reference(job, range));
      });
      await fc.assert(property, { numRuns: RUNS });
    });

    test('finds hits at both edges of a range, and none beyond them', async () => {
      const job = jobOf(someHeaderHex, easyTarget);
      const unit = workgroupCounters(variant);
      const at = { lane: 5, step: 1, page: 6, pages: 1 };
      const hits = solutionsIn(job, { ...at, counter: 1_000, counters: unit + 200 }).map(({ counter }) => counter);
      // Distances from one hit to another: within a workgroup, about a workgroup, and longer.
      const first = hits.slice(0, 4);
      const last = [hits[5], hits[Math.floor(hits.length / 2)], ...hits.slice(-4)];
      for (const from of first) {
        for (const to of last) {
          const range = { ...at, counter: from, counters: to - from + 1 };
          const inside = hits.filter((hit) => hit >= from && hit <= to);
          const expected = inside.map((counter) => joinNonce({ ...at, counter })).sort(byValue);
          expect(await searchAll(engine, job, range)).toEqual(expected);
        }
      }
    });

    test('finds hits at the ends of the counters, where every nonce solves', async () => {
      const job = jobOf(someHeaderHex, everythingSolves);
      const unit = workgroupCounters(variant);
      for (const counters of [1, unit - 1, unit, unit + 1]) {
        for (const counter of [0, COUNTERS - counters]) {
          const range = { lane: 0xffff, step: 1, page: 0xffff, pages: 1, counter, counters };
          const found = await searchAll(engine, job, range);
          expect(found).toHaveLength(counters);
          expect(found[0]).toBe(joinNonce({ lane: 0xffff, step: 1, page: 0xffff, counter }));
          expect(new Set(found).size).toBe(counters);
        }
      }
      expect(solves(job, { lane: 0, step: 1, page: 0, counter: 0 })).toBe(true);
    });
  });
}
