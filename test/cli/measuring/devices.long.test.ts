import { beforeAll, describe, expect, it, vi } from 'vitest';
import { describeGpu } from '../../miner/engine/gpu/adapter.ts';
import { DIALECTS } from '../../mock-node/node.ts';
import { PATIENCE } from '../../patience.ts';
import { mine } from '../mining/mine-on-mock.ts';
import { rememberGpus } from '../remember-gpu.ts';

/** Makes the Vulkan loader find no driver at all. */
const NO_DRIVER = { VK_DRIVER_FILES: '/nonexistent.json', VK_ICD_FILENAMES: '/nonexistent.json' };

describe('a device that is not available', () => {
  it('is reported, and the others mine', async () => {
    const { run } = await mine('chainweb', ['--devices', 'cpu,gpu77']);
    expect(await run.code).toBe(0);
    expect(run.events('device')).toContainEqual(
      expect.objectContaining({ device: 'gpu77', state: 'parked', fault: 'missing' }),
    );
  });

  it('ends the run with exit code 3 when there is no other device', async () => {
    const { run } = await mine('chainweb', ['--devices', 'gpu77']);
    expect(await run.code).toBe(3);
    expect(run.events().at(-1)).toMatchObject({ type: 'summary', hashes: 0 });
  });

  it('causes one error that says what to do when no GPU can be used', async () => {
    const { run } = await mine('chainweb', ['-d', 'gpu'], NO_DRIVER);
    expect(await run.code).toBe(3);
    const errors = run.stderr.split('\n').filter((line) => /ERROR|WARN|GPU/.test(line));
    expect(errors).toEqual([
      expect.stringMatching(/ERROR: gpu +no device can mine: .*\. pickaxe devices lists .*--devices cpu\.$/),
    ]);
    expect(run.stderr).not.toContain('the others go on');
  });

  it('is any GPU on a machine without a driver, and the CPU still mines', async () => {
    const { run } = await mine('chainweb', [], NO_DRIVER);
    expect(await run.code).toBe(0);
    expect(run.stderr).toContain('Vulkan driver');
    const gpuOnly = await mine('chainweb', ['--devices', 'gpu0'], NO_DRIVER);
    expect(await gpuOnly.run.code).toBe(3);
  });
});

describeGpu('mining on a GPU', () => {
  beforeAll(rememberGpus);

  it.each(DIALECTS)('finds blocks with the shader, and a node of the dialect %s accepts them', async (dialect) => {
    const { run, mock } = await mine(dialect, ['--devices', 'gpu0', '--software-gpu']);
    expect(await run.code).toBe(0);
    expect(mock.ledger.stats).toMatchObject({ rejected: 0, duplicates: 0, timeViolations: 0 });
    expect(run.events('device')[0]).toMatchObject({ device: 'gpu0', kind: 'gpu', state: 'ready' });
    expect(new Set(run.events('solution').map(({ device }) => device))).toEqual(new Set(['gpu0']));
    expect(Number(run.events('summary')[0].accepted)).toBeGreaterThanOrEqual(3);
  });

  it('goes on side by side with the CPU', async () => {
    const { run, mock } = await mine(
      'chainweb',
      ['--devices', 'cpu,gpu0', '--threads', '1', '--software-gpu'],
      {},
      2 ** 50,
    );
    const bothHash = () => {
      const devices = (run.events('hashrate').at(-1)?.devices ?? {}) as Record<string, { hashesPerSecond: number }>;
      expect(devices.cpu?.hashesPerSecond).toBeGreaterThan(0);
      expect(devices.gpu0?.hashesPerSecond).toBeGreaterThan(0);
    };
    await vi.waitFor(bothHash, PATIENCE);
    run.child.kill('SIGTERM');
    expect(await run.code).toBe(0);
    expect(mock.ledger.stats).toMatchObject({ rejected: 0 });
  });
});
