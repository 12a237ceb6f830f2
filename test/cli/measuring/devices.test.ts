import { describe, expect, it } from 'vitest';
import { runMiner } from '#pickaxe/app/composition/run-miner.js';
import { Events } from '#pickaxe/miner/events/events.js';
import { LogTail } from '#pickaxe/rig/log/log-tail.js';
import { makeLog } from '#pickaxe/rig/terminal/log.js';
import { FakeEngine, FakeSource, makeWork } from '../../fakes.ts';
import { mine, TEST_MS } from '../mining/mine-on-mock.ts';

/** Makes the Vulkan loader find no driver at all. */
const NO_DRIVER = { VK_DRIVER_FILES: '/nonexistent.json', VK_ICD_FILENAMES: '/nonexistent.json' };

describe('a device that is not available', () => {
  it('is reported, and the others mine', { timeout: TEST_MS }, async () => {
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

  it('is any GPU on a machine without a driver, and the CPU still mines', { timeout: TEST_MS }, async () => {
    const { run } = await mine('chainweb', [], NO_DRIVER);
    expect(await run.code).toBe(0);
    expect(run.stderr).toContain('Vulkan driver');
    const gpuOnly = await mine('chainweb', ['--devices', 'gpu0'], NO_DRIVER);
    expect(await gpuOnly.run.code).toBe(3);
  });
});

describe('a device that computes wrong hashes', () => {
  it('causes exit code 6, and nothing that it found is submitted', async () => {
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
