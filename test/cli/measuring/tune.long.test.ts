import { expect, test } from 'vitest';
import { GpuTuning, tuneGpus, tuningLines } from '#pickaxe/cli/measuring/tune.js';
import { makeLog } from '#pickaxe/rig/terminal/log.js';
import { describeGpu, gpuEngine } from '../../miner/engine/gpu/adapter.ts';

const log = makeLog('silent', 'json');

describeGpu('a GPU that is tuned', () => {
  test('reports its best variant and why it is chosen, or that it computes wrong hashes', async () => {
    const { gpus, wrongHashes } = await tuneGpus(
      [gpuEngine({ name: 'gpu0', faults: ['wrong-hashes'] }), gpuEngine()],
      log,
    );
    expect(wrongHashes).toBe(true);
    expect(gpus).toMatchObject([{ name: 'gpu0', why: 'wgsl 64×16, as asked for' }]);
    expect(GpuTuning.parse(gpus[0])).toEqual(gpus[0]);
    const [heading, why, best] = tuningLines(gpus[0]);
    expect(heading).toContain(`${gpus[0].model}; ${gpus[0].driver}`);
    expect(why).toBe(gpus[0].why);
    expect(best).toMatch(/^\* wgsl 64×16 +[\d.]+ \wH\/s/);
  });

  test('is opened again when a variant of its kernel crashed it', async () => {
    const { gpus } = await tuneGpus([gpuEngine({ faults: ['loss while tuning', 'no device'] })], log);
    expect(gpus).toHaveLength(1);
  });
});
