import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { nodesOf } from '../../miner/source/node/node.ts';
import { type Run, start } from '../pickaxe.ts';

const startNode = nodesOf('chainweb');

const MINER = ['--network', 'development', '--public-key', 'a1'.repeat(32)];
/** The miner surveys nodes and checks blocks every 10 to 15 s. */
const LONG = { timeout: 240_000 };
vi.setConfig({ testTimeout: 300_000 });
/** These tests wait half a minute for news of nodes, for which a few hashes are enough. */
const CPU = ['--devices', 'cpu', '--threads', '1', '--cpu-priority', '19'];

/** Starts `pickaxe mine`, which ends with the test. */
function mineOn(...args: string[]): Run {
  const run = start(['mine', ...args, ...MINER, ...CPU, '--json']);
  onTestFinished(async () => {
    run.child.kill('SIGKILL');
    await run.code;
  });
  return run;
}

describe('pickaxe mine on several nodes', () => {
  it('leaves one that stands still, and says so', async () => {
    const still = await startNode({ firstBlockAgeMs: 3_600_000, difficulty: 1e15 });
    const other = await startNode({ difficulty: 1000 });
    const run = mineOn('--node', still.url, '--node', other.url);
    await vi.waitFor(() => expect(other.node.ledger.stats.accepted).toBeGreaterThan(0), LONG);
    expect(still.node.ledger.stats.workIssued).toBeGreaterThan(0);
    const news = run.events('source').map(({ source, state, reason }) => `${source} ${state} ${reason}`);
    expect(news.filter((line) => line.includes('unhealthy'))).toEqual([
      expect.stringMatching(/^http.* unhealthy stands still: no chain has grown for 6\d minutes\. It is mined on only/),
      expect.stringMatching(/^http.* info takes over from http.*, which is unhealthy$/),
    ]);
    expect(run.stderr).toMatch(/WARN.*stands still: no chain has grown/);
    run.child.kill('SIGTERM');
    expect(await run.code).toBe(0);
  });
});

it('pickaxe mine says of its only node that it stands still', async () => {
  const { url } = await startNode({ firstBlockAgeMs: 3_600_000, difficulty: 1e15 });
  const run = mineOn('--node', url);
  await vi.waitFor(() => expect(run.stderr).toMatch(/WARN.*stands still: no chain has grown.*no other node/), LONG);
  const states = run.events('source').filter(({ state }) => state === 'unhealthy');
  expect(states).toHaveLength(1);
  run.child.kill('SIGTERM');
  expect(await run.code).toBe(0);
});
