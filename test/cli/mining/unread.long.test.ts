import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { expect, it, onTestFinished, vi } from 'vitest';
import { MockNode } from '../../mock-node/node.ts';
import { isolated, MAIN } from '../pickaxe.ts';

/** More than pipes and sockets buffer. */
const ENOUGH_BYTES = 1_000_000;

it('a wrapper that does not read the log delays nothing', async () => {
  const node = new MockNode({ dialect: 'document', difficulty: 1_000 });
  const { url } = await node.start();
  onTestFinished(() => node.close());
  const options = ['--network', 'development', '--public-key', 'a1'.repeat(32), '--json', '--log-level', 'debug'];
  const miner = spawn(process.execPath, [MAIN, 'mine', '--node', url, '--devices', 'cpu', ...options], {
    ...isolated,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void miner.kill('SIGKILL'));
  const code = new Promise((resolve) => miner.once('exit', resolve));
  let bytes = 0;
  createInterface({ input: miner.stdout }).on('line', (line) => {
    bytes += line.length;
  });
  await vi.waitFor(() => expect(bytes).toBeGreaterThan(ENOUGH_BYTES), { timeout: 300_000, interval: 200 });
  miner.kill('SIGTERM');
  expect(await code).toBe(0);
  expect(node.ledger.stats.accepted).toBeGreaterThan(100);
});
