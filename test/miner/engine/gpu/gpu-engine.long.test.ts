import { expect, test } from 'vitest';
import { CpuEngine } from '#pickaxe/miner/engine/cpu/cpu-engine.js';
import type { SearchReport } from '#pickaxe/miner/engine/engine.js';
import { HIT_CAPACITY } from '#pickaxe/miner/engine/gpu/prepare.generated.js';
import { nameOf, SHADER_NAMES, workgroupCounters } from '#pickaxe/miner/engine/gpu/tuning.js';
import { engineContract } from '../../../interfaces/engine-contract.ts';
import { everythingSolves, jobOf, nothingSolves, searchVectors, someHeaderHex } from '../../../interfaces/jobs.ts';
import { Rectangle } from '../../../interfaces/rectangle.ts';
import { ourNiceness } from '../../../priority.ts';
import { describeGpu, gpuEngine, settled, untunedOptions } from './adapter.ts';

const never = new AbortController().signal;
/** WebGPU's limit. */
const MOST_IN_ROW = 65_535;

/** All shaders, with the smallest and the largest workgroups that there are. */
const extremes = SHADER_NAMES.flatMap((shader) => [
  { shader, workgroupSize: 64, trips: 8 },
  { shader, workgroupSize: 256, trips: 32 },
]);

describeGpu('a GPU', () => {
  engineContract(nameOf(settled.variant), () => gpuEngine());

  test('describes itself', async () => {
    const engine = gpuEngine();
    const info = await engine.open();
    await engine.close();
    expect(info).toMatchObject({
      model: untunedOptions.adapter,
      kernel: 'wgsl',
      why: 'wgsl 64×16, as asked for',
      gpu: {
        driver: expect.stringMatching(/./),
        variant: 'wgsl 64×16',
        workgroupSize: 64,
        noncesPerInvocation: 16,
        batchMs: 5,
      },
      sensors: expect.stringMatching(/./),
    });
  });

  for (const variant of extremes) engineContract(nameOf(variant), () => gpuEngine({ variant }));

  test('is opened only by its child process', async () => {
    const engine = gpuEngine();
    await engine.open();
    const { sharedObjects } = process.report.getReport() as unknown as { sharedObjects: string[] };
    await engine.close();
    expect(sharedObjects.filter((path) => path.includes('dawn'))).toEqual([]);
  });

  test('loses no hit when a dispatch has many times more than there is room for', async () => {
    const engine = gpuEngine();
    await engine.open();
    const size = (counters: number) => ({ lane: 2, step: 1, page: 9, pages: 1, counter: 5, counters });
    // The size of dispatches grows, so this search makes the next one use large dispatches.
    const warmUp = new Rectangle(size(20_000_000));
    for await (const _ of engine.search(jobOf(someHeaderHex, nothingSolves), warmUp, never));
    const ranges = new Rectangle(size(30 * HIT_CAPACITY));
    const seen = new Set<bigint>();
    let candidates = 0;
    for await (const report of engine.search(jobOf(someHeaderHex, everythingSolves), ranges, never)) {
      candidates += report.candidates.length;
      for (const nonce of report.candidates) seen.add(nonce);
    }
    await engine.close();
    expect(candidates).toBe(30 * HIT_CAPACITY);
    expect(seen.size).toBe(30 * HIT_CAPACITY);
  });

  test('reports what was in flight when it was stopped', async () => {
    const engine = gpuEngine();
    await engine.open();
    const stop = new AbortController();
    const endless = { lane: 0, step: 1, page: 0, pages: 0x1_0000, counter: 0, counters: 2 ** 32 };
    const ranges = new Rectangle(endless);
    const reports: SearchReport[] = [];
    for await (const report of engine.search(jobOf(someHeaderHex, nothingSolves), ranges, stop.signal)) {
      reports.push(report);
      stop.abort();
    }
    await engine.close();
    // Two dispatches are always in flight, and the first report is about one of them.
    expect(reports.length).toBeGreaterThan(1);
    ranges.expectBalanced(reports);
  });

  test('searches the newest job at once, even while the old one is not stopped', async () => {
    const engine = gpuEngine();
    await engine.open();
    const stop = new AbortController();
    const endless = { lane: 0, step: 1, page: 0, pages: 0x1_0000, counter: 0, counters: 2 ** 32 };
    const old = engine.search(jobOf(someHeaderHex, nothingSolves), new Rectangle(endless), stop.signal);
    await old.next();
    const { headerHex, targetHex, lane, page, counter, start, nonce } = searchVectors.first[0];
    const range = { lane, step: 1, page, pages: 1, counter: start, counters: counter - start + 1 };
    const candidates: bigint[] = [];
    for await (const report of engine.search(jobOf(headerHex, targetHex), new Rectangle(range), never)) {
      candidates.push(...report.candidates);
    }
    expect(candidates).toEqual([BigInt(nonce)]);
    stop.abort();
    while (!(await old.next()).done);
    await engine.close();
  });

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
