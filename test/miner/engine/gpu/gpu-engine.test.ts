import { expect, test } from 'vitest';
import { GpuEngine } from '#pickaxe/miner/engine/gpu/gpu-engine.js';
import { listGpus } from '#pickaxe/miner/engine/gpu/list-gpus.js';
import { describeGpu, gpuEngine, softwareAdapter } from './adapter.ts';

const never = new AbortController().signal;
const noDriver = { VK_DRIVER_FILES: '/nonexistent', VK_ICD_FILENAMES: '/nonexistent' };
const onVulkan = process.platform === 'linux';

describeGpu('a GPU', () => {
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
