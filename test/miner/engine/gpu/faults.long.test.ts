/** Injects faults into a GPU: the engine must report them, and lose no range. */

import { spawn } from 'node:child_process';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { SearchReport } from '#pickaxe/miner/engine/engine.js';
import { GpuEngine } from '#pickaxe/miner/engine/gpu/gpu-engine.js';
import { isTypical, VARIANTS } from '#pickaxe/miner/engine/gpu/tuning.js';
import { solves } from '#pickaxe/protocol/chain/job.js';
import { splitNonce } from '#pickaxe/protocol/chain/nonce.js';
import { isRunning } from '../../../running.ts';
import { brieflyTuned, describeGpu, gpuEngine, settled, untunedOptions } from './adapter.ts';
import { type Fault, faulty } from './faulty.ts';
import { endless, job, never, searchToTheEnd } from './search-to-the-end.ts';

describeGpu('a GPU that fails', () => {
  test('is lost when its process is killed in the middle of a search, and opens again', async () => {
    const engine = gpuEngine();
    await engine.open();
    const { fault, reports } = await searchToTheEnd(engine, () => process.kill(engine.pid!, 'SIGKILL'));
    expect(fault).toMatchObject({ fault: 'lost', message: 'the GPU was lost: its process ended with SIGKILL' });
    expect(reports.length).toBeGreaterThan(0);
    await engine.close();
    await engine.open();
    const again = engine.search(job, endless(), never);
    expect((await again.next()).value).toMatchObject({ candidates: [] });
    await again.return();
    await engine.close();
  });

  test('is lost when its device is gone', async () => {
    const engine = gpuEngine({ faults: ['device loss'] });
    await engine.open();
    expect((await searchToTheEnd(engine)).fault).toMatchObject({
      fault: 'lost',
      message: expect.stringMatching(/^the GPU was lost: a dispatch failed: ./),
    });
    await engine.close();
  });

  test('is lost when it hangs, and its process is killed', async () => {
    const engine = gpuEngine({ faults: ['hang'], silenceMs: 1_000 });
    await engine.open();
    const pid = engine.pid!;
    const { fault, reports } = await searchToTheEnd(engine);
    expect(fault).toMatchObject({
      fault: 'lost',
      message: 'the GPU was lost: it reported nothing: its driver hangs (for 1 s)',
    });
    expect(reports).toEqual([]);
    await engine.close();
    expect(isRunning(pid)).toBe(false);
  });

  test('is not reported as lost when it is closed', async () => {
    const engine = gpuEngine();
    const lost = vi.fn();
    await engine.open({ lost });
    await engine.close();
    expect(lost).not.toHaveBeenCalled();
  });

  test('is caught when it computes wrong hashes later on', async () => {
    const engine = gpuEngine({ faults: ['wrong hashes later'], checkEveryMs: 200 });
    await engine.open();
    const { fault, reports } = await searchToTheEnd(engine);
    expect(fault).toMatchObject({ fault: 'wrong-hashes', message: expect.stringContaining('a range of known hits') });
    expect(reports.length).toBeGreaterThan(0);
    await engine.close();
  });

  test('does not open when it computes wrong hashes', async () => {
    const engine = gpuEngine({ faults: ['wrong-hashes'] });
    await expect(engine.open()).rejects.toMatchObject({ fault: 'wrong-hashes' });
    await engine.close();
  });

  test('passes on wrong candidates, which the referee counts', async () => {
    const engine = gpuEngine({ faults: ['wrong nonces'] });
    await engine.open();
    for await (const { candidates } of engine.search(job, endless(), never)) {
      expect(candidates).toHaveLength(1);
      expect(solves(job, splitNonce(candidates[0]))).toBe(false);
      break;
    }
    await engine.close();
  });

  test('is lost when it crashes', async () => {
    const engine = gpuEngine({ faults: ['crash'] });
    await engine.open();
    expect((await searchToTheEnd(engine)).fault).toMatchObject({ fault: 'lost' });
    await engine.close();
  });

  test('is lost when its process hangs, and the process is killed', async () => {
    const engine = gpuEngine({ faults: ['freeze'], silenceMs: 1_000 });
    await engine.open();
    const pid = engine.pid!;
    const { fault, reports } = await searchToTheEnd(engine);
    expect(fault).toMatchObject({ fault: 'lost', message: expect.stringMatching(/process hangs|driver hangs/) });
    expect(reports.length).toBeGreaterThan(0);
    await engine.close();
    expect(isRunning(pid)).toBe(false);
  });

  test('is lost when its process hangs while nothing is searched, and the listener is told', async () => {
    const engine = gpuEngine({ silenceMs: 1_000 });
    const lost = vi.fn();
    await engine.open({ lost });
    process.kill(engine.pid!, 'SIGSTOP');
    await vi.waitFor(() => expect(isRunning(engine.pid!)).toBe(false), { timeout: 60_000 });
    const fault = expect.objectContaining({ fault: 'lost', message: expect.stringContaining('its process hangs') });
    expect(lost.mock.calls).toEqual([[fault]]);
    expect((await searchToTheEnd(engine)).fault).toEqual(fault);
    await engine.close();
  });

  test('is lost when it reports a range that it was not given', async () => {
    const engine = gpuEngine({ faults: ['wrong range'] });
    await engine.open();
    const { fault, reports } = await searchToTheEnd(engine);
    expect(fault).toMatchObject({ fault: 'lost', message: expect.stringContaining('was not given') });
    expect(reports).toHaveLength(1);
    await engine.close();
  });

  test('is lost when its messages are not valid', async () => {
    const engine = gpuEngine({ faults: ['garbage'] });
    await engine.open();
    const { fault, reports } = await searchToTheEnd(engine);
    expect(fault).toMatchObject({ fault: 'lost', message: expect.stringContaining('does not understand') });
    expect(reports).toHaveLength(1);
    await engine.close();
  });

  test('does not open when the driver gives no device, and opens at the next attempt', async () => {
    const engine = gpuEngine({ faults: ['no device'] });
    await expect(engine.open()).rejects.toMatchObject({ fault: 'lost' });
    await engine.open();
    await engine.close();
  });

  test('skips a variant of the kernel that was running when the device was lost', async () => {
    const engine = new GpuEngine({ ...untunedOptions, ...brieflyTuned, ...faulty(['loss while tuning']) });
    await expect(engine.open()).rejects.toMatchObject({ fault: 'lost' });
    const { tuning, why } = await engine.open();
    await engine.close();
    expect(why).toMatch(/; the GPU was lost with wgsl 128×16, which /);
    const left = tuning.variants.filter(({ fault }) => fault !== undefined);
    expect(left).toEqual([
      {
        variant: { shader: 'wgsl', workgroupSize: 128, trips: 16 },
        fault: expect.stringContaining('when this variant was tried'),
      },
    ]);
  });

  /**
   * Loses the device by a fault while it is measured beside mining, and opens it again.
   * @returns why a variant is used after everything has been measured
   */
  async function whyAfter(fault: Fault): Promise<string> {
    const [first, likely] = VARIANTS.filter(isTypical);
    const engine = new GpuEngine({
      ...untunedOptions,
      tuningLimits: { ...brieflyTuned.tuningLimits, variants: [first, likely] },
      ...faulty([fault]),
      minesAtOnce: true,
      likely,
    });
    await engine.open();
    expect((await searchToTheEnd(engine)).fault).toMatchObject({ fault: 'lost' });
    await engine.close();
    let why = '';
    await engine.open({ changed: (info) => (why = info.why) });
    const stop = new AbortController();
    for await (const _ of engine.search(job, endless(), stop.signal)) if (why !== '') stop.abort();
    await engine.close();
    return why;
  }

  test.each(['loss before measuring', 'loss while measuring'] as const)(
    'skips the variant that was tried while it mined: %s',
    async (fault) => {
      expect(await whyAfter(fault)).toMatch(/; the GPU was lost with wgsl 128×16, which /);
    },
  );

  test('skips no variant when it is lost between two turns of measuring', async () => {
    expect(await whyAfter('loss between turns')).toMatch(/fastest of 2 variants that run here/);
  });

  test('skips no variant of the kernel because of wrong hashes', async () => {
    const tuningLimits = { ...brieflyTuned.tuningLimits, variants: VARIANTS.filter(isTypical).slice(0, 1) };
    const engine = new GpuEngine({ ...untunedOptions, tuningLimits, ...faulty(['wrong-hashes']) });
    await expect(engine.open()).rejects.toMatchObject({ fault: 'wrong-hashes' });
    const { tuning, why } = await engine.open();
    await engine.close();
    expect(why).not.toContain('the GPU was lost');
    expect(tuning.variants.filter(({ fault }) => fault !== undefined)).toEqual([]);
  });

  test('passes its checks while it mines, and loses no nonce by them', async () => {
    const engine = gpuEngine({ checkEveryMs: 1 });
    await engine.open();
    const ranges = endless();
    const stop = new AbortController();
    const reports: SearchReport[] = [];
    for await (const report of engine.search(job, ranges, stop.signal)) {
      reports.push(report);
      if (reports.length === 6) stop.abort();
    }
    ranges.expectBalanced(reports);
    await engine.close();
  });

  test('ignores signals that are sent to the miner', async () => {
    const engine = gpuEngine();
    await engine.open();
    const search = engine.search(job, endless(), never);
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.kill(engine.pid!, signal);
      expect((await search.next()).done).toBe(false);
    }
    await search.return();
    await engine.close();
  });

  test('is left by its process when the miner is killed', async () => {
    const miner = spawn(process.execPath, ['--input-type=module', '-e', minerThatWaits], {
      env: { ...process.env, ADAPTER_OPTIONS: JSON.stringify({ ...settled, name: 'gpu0', softwareGpu: true }) },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void miner.kill('SIGKILL'));
    const pid = await new Promise<number>((resolve) => {
      miner.stdout.once('data', (text) => resolve(Number(text)));
    });
    expect(isRunning(pid)).toBe(true);
    miner.kill('SIGKILL');
    await vi.waitFor(() => expect(isRunning(pid)).toBe(false), { timeout: 60_000 });
  });
});

const minerThatWaits = `
  import { GpuEngine } from ${JSON.stringify(new URL('../../../../dist/miner/engine/gpu/gpu-engine.js', import.meta.url).href)};
  const engine = new GpuEngine(JSON.parse(process.env.ADAPTER_OPTIONS));
  await engine.open();
  console.log(engine.pid);
`;
