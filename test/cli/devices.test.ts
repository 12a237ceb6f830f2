import { afterEach, describe, expect, it, vi } from 'vitest';
import { runMiner } from '#pickaxe/app/run-miner.js';
import { Events } from '#pickaxe/events/events.js';
import { MockNode } from '#pickaxe/mock-node/mock-node.js';
import { LogTail } from '#pickaxe/report/log-tail.js';
import { makeLog } from '#pickaxe/terminal/log.js';
import { describeGpu } from '../engine/gpu/adapter.ts';
import { FakeEngine, FakeSource, makeWork } from '../fakes.ts';
import { type Run, start } from './pickaxe.ts';

const KEY = 'ab'.repeat(32);
/** Makes the Vulkan loader find no driver at all. */
const NO_DRIVER = { VK_DRIVER_FILES: '/nonexistent.json', VK_ICD_FILENAMES: '/nonexistent.json' };

/** More than mining runs for at most, and than is waited for. */
const TEST_MS = 120_000;

const nodes: MockNode[] = [];
const runs: Run[] = [];

async function mine(devices: string[], env: Record<string, string> = {}, difficulty = 100_000) {
  const mock = new MockNode({ difficulty });
  nodes.push(mock);
  const { url } = await mock.start();
  const options = ['--node', url, '--network', 'development', '--public-key', KEY, '--json', '--duration', '60'];
  const run = start(['mine', ...options, '--blocks', '3', ...devices], env);
  runs.push(run);
  return { run, mock };
}

afterEach(async () => {
  for (const { child } of runs) child.kill('SIGKILL');
  await Promise.all(runs.splice(0).map(({ code }) => code));
  await Promise.all(nodes.splice(0).map((mock) => mock.close()));
});

describeGpu('mining on a GPU', () => {
  it('has blocks accepted that the shader found', { timeout: TEST_MS }, async () => {
    const { run, mock } = await mine(['--devices', 'gpu0', '--software-gpu']);
    expect(await run.code).toBe(0);
    expect(mock.ledger.stats).toMatchObject({ rejected: 0, duplicates: 0, timeViolations: 0 });
    expect(run.events('device')[0]).toMatchObject({ device: 'gpu0', kind: 'gpu', state: 'ready' });
    expect(new Set(run.events('solution').map(({ device }) => device))).toEqual(new Set(['gpu0']));
    expect(Number(run.events('summary')[0].accepted)).toBeGreaterThanOrEqual(3);
  });

  it('goes side by side with the CPU', { timeout: TEST_MS }, async () => {
    const { run, mock } = await mine(['--devices', 'cpu,gpu0', '--threads', '1', '--software-gpu'], {}, 2 ** 50);
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

describe('a device that cannot be had', () => {
  it('is reported, and the others mine', { timeout: TEST_MS }, async () => {
    const { run } = await mine(['--devices', 'cpu,gpu77']);
    expect(await run.code).toBe(0);
    expect(run.events('device')).toContainEqual(
      expect.objectContaining({ device: 'gpu77', state: 'parked', fault: 'missing' }),
    );
  });

  it('ends the run with exit code 3 when there is no other', async () => {
    const { run } = await mine(['--devices', 'gpu77']);
    expect(await run.code).toBe(3);
    expect(run.events().at(-1)).toMatchObject({ type: 'summary', hashes: 0 });
  });

  it('is one error that says what to do when no GPU can be used', async () => {
    const { run } = await mine(['-d', 'gpu'], NO_DRIVER);
    expect(await run.code).toBe(3);
    const errors = run.stderr.split('\n').filter((line) => /ERROR|WARN|GPU/.test(line));
    expect(errors).toEqual([
      expect.stringMatching(/ERROR: gpu +no device can mine: .*\. pickaxe devices lists .*--devices cpu\.$/),
    ]);
    expect(run.stderr).not.toContain('the others go on');
  });

  it('is every GPU on a machine without a driver, which the CPU does not mind', { timeout: TEST_MS }, async () => {
    const { run } = await mine([], NO_DRIVER);
    expect(await run.code).toBe(0);
    expect(run.stderr).toContain('Vulkan driver');
    const gpuOnly = await mine(['--devices', 'gpu0'], NO_DRIVER);
    expect(await gpuOnly.run.code).toBe(3);
  });
});

describe('a device that computes wrong hashes', () => {
  it('makes the exit code 6, without a submission', async () => {
    const source = new FakeSource();
    const liar = new FakeEngine('gpu0');
    liar.wrong = [1n, 2n, 3n];
    source.work(makeWork(2 ** 60));
    const log = makeLog('silent', 'json');
    const rig = { events: new Events(), source, engines: [liar], log, logTail: new LogTail() };
    expect(await runMiner(rig, { duration: 1, json: false })).toBe(6);
    expect(source.submitted).toHaveLength(0);
  });
});
