import { beforeAll, expect, it, vi } from 'vitest';
import { describeGpu } from '../../miner/engine/gpu/adapter.ts';
import { DIALECTS } from '../../mock-node/node.ts';
import { mine, TEST_MS } from '../mining/mine-on-mock.ts';
import { rememberGpus } from '../remember-gpu.ts';

describeGpu('mining on a GPU', () => {
  beforeAll(rememberGpus);

  it.each(DIALECTS)(
    'finds blocks with the shader, and a node of the dialect %s accepts them',
    { timeout: TEST_MS },
    async (dialect) => {
      const { run, mock } = await mine(dialect, ['--devices', 'gpu0', '--software-gpu']);
      expect(await run.code).toBe(0);
      expect(mock.ledger.stats).toMatchObject({ rejected: 0, duplicates: 0, timeViolations: 0 });
      expect(run.events('device')[0]).toMatchObject({ device: 'gpu0', kind: 'gpu', state: 'ready' });
      expect(new Set(run.events('solution').map(({ device }) => device))).toEqual(new Set(['gpu0']));
      expect(Number(run.events('summary')[0].accepted)).toBeGreaterThanOrEqual(3);
    },
  );

  it('goes on side by side with the CPU', { timeout: TEST_MS }, async () => {
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
    await vi.waitFor(bothHash, { timeout: 60_000 });
    run.child.kill('SIGTERM');
    expect(await run.code).toBe(0);
    expect(mock.ledger.stats).toMatchObject({ rejected: 0 });
  });
});
