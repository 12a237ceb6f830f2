import { expect, test } from 'vitest';
import type { SearchReport } from '#pickaxe/miner/engine/engine.js';
import { GpuEngine } from '#pickaxe/miner/engine/gpu/gpu-engine.js';
import { listGpus } from '#pickaxe/miner/engine/gpu/list-gpus.js';
import { HIT_CAPACITY } from '#pickaxe/miner/engine/gpu/prepare.generated.js';
import { nameOf } from '#pickaxe/miner/engine/gpu/tuning.js';
import { engineContract } from '../../../interfaces/engine-contract.ts';
import { everythingSolves, jobOf, nothingSolves, searchVectors, someHeaderHex } from '../../../interfaces/jobs.ts';
import { Rectangle } from '../../../interfaces/rectangle.ts';
import { describeGpu, gpuEngine, settled, softwareAdapter, untunedOptions } from './adapter.ts';

const never = new AbortController().signal;
const noDriver = { VK_DRIVER_FILES: '/nonexistent', VK_ICD_FILENAMES: '/nonexistent' };
const onVulkan = process.platform === 'linux';

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

  test('is listed', async () => {
    const gpus = await listGpus();
    expect(gpus.map(({ name }) => name)).toEqual(gpus.map((_, i) => `gpu${i}`));
    for (const gpu of gpus) {
      expect(gpu.why).not.toBe('');
      if (gpu.software) expect(gpu).toMatchObject({ usable: false, why: expect.stringContaining('--software-gpu') });
    }
  });

  test.runIf(softwareAdapter)('that is a software renderer is refused unless asked for', async () => {
    const opening = gpuEngine({ adapter: softwareAdapter!, softwareGpu: false }).open();
    await expect(opening).rejects.toMatchObject({
      fault: 'missing',
      message: expect.stringContaining('--software-gpu'),
    });
  });

  test('that does not exist is refused by name', async () => {
    const opening = gpuEngine({ adapter: 'Voodoo 2' }).open();
    await expect(opening).rejects.toMatchObject({ fault: 'missing', message: expect.stringContaining("'Voodoo 2'") });
  });
});

test.runIf(onVulkan)('without a driver the error says what to do, and quotes the loader if there is one', async () => {
  const quoted = softwareAdapter === undefined ? '' : '.*output: .*Found no drivers';
  const engine = new GpuEngine({ name: 'gpu0', softwareGpu: true, environment: noDriver });
  for (const refused of [() => listGpus({ environment: noDriver }), () => engine.open()]) {
    await expect(refused()).rejects.toMatchObject({
      fault: 'missing',
      message: expect.stringMatching(`Vulkan driver.*vulkaninfo${quoted}`),
    });
  }
});

test('cannot search before it is open', async () => {
  const search = gpuEngine().search({} as never, {} as never, never);
  await expect(search.next()).rejects.toThrow('not open');
});
