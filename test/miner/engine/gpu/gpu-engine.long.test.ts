import { expect, test } from 'vitest';
import { CpuEngine } from '#pickaxe/miner/engine/cpu/cpu-engine.js';
import type { SearchReport } from '#pickaxe/miner/engine/engine.js';
import { nameOf, SHADER_NAMES, workgroupCounters } from '#pickaxe/miner/engine/gpu/tuning.js';
import { engineContract } from '../../../interfaces/engine-contract.ts';
import { jobOf, someHeaderHex } from '../../../interfaces/jobs.ts';
import { Rectangle } from '../../../interfaces/rectangle.ts';
import { ourNiceness } from '../../../priority.ts';
import { describeGpu, gpuEngine } from './adapter.ts';

const never = new AbortController().signal;
/** WebGPU's limit. */
const MOST_IN_ROW = 65_535;

/** All shaders, with the smallest and the largest workgroups that there are. */
const extremes = SHADER_NAMES.flatMap((shader) => [
  { shader, workgroupSize: 64, trips: 8 },
  { shader, workgroupSize: 256, trips: 32 },
]);

describeGpu('a GPU', () => {
  for (const variant of extremes) engineContract(nameOf(variant), () => gpuEngine({ variant }));

  test('finds the same as the CPU in a dispatch with several rows of workgroups', async () => {
    const variant = { shader: 'wgsl', workgroupSize: 64, trips: 8 } as const;
    const counters = (MOST_IN_ROW + 500) * workgroupCounters(variant);
    // With such a long batch the whole range is given at once, even on a slow machine.
    const gpu = gpuEngine({ variant, firstCounters: counters, batchMs: 10_000_000 });
    const cpu = new CpuEngine({ niceness: ourNiceness });
    const job = jobOf(someHeaderHex, `${'ff'.repeat(29)}7f0000`);
    const range = { lane: 7, step: 1, page: 8, pages: 1, counter: 2 ** 31, counters };
    const [found, expected] = await Promise.all(
      [gpu, cpu].map(async (engine) => {
        await engine.open();
        const ranges = new Rectangle(range);
        const reports: SearchReport[] = [];
        for await (const report of engine.search(job, ranges, never)) reports.push(report);
        ranges.expectUsedUp();
        await engine.close();
        return reports;
      }),
    );
    expect(found.map(({ searched }) => searched)).toEqual([range]); // One dispatch searched all of it.
    const noncesOf = (reports: readonly SearchReport[]) => new Set(reports.flatMap(({ candidates }) => candidates));
    expect(noncesOf(found).size).toBeGreaterThan(100);
    expect(noncesOf(found)).toEqual(noncesOf(expected));
  }, 120_000); // 34 million hashes, on the CPU without a compiler on WebAssembly: a loaded machine takes its time
});
