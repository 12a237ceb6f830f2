/** Faults of a GPU, brought about on purpose: the engine reports them, and loses no range. */

import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { solves } from '#pickaxe/chain/job.js';
import { splitNonce } from '#pickaxe/chain/nonce.js';
import type { SearchReport } from '#pickaxe/engine/engine.js';
import type { GpuEngine } from '#pickaxe/engine/gpu/gpu-engine.js';
import { jobOf, nothingSolves, someHeaderHex } from '../../contract/jobs.ts';
import { Rectangle } from '../../contract/rectangle.ts';
import { describeGpu, gpuEngine } from './adapter.ts';

const never = new AbortController().signal;
const job = jobOf(someHeaderHex, nothingSolves);
const endless = () => new Rectangle({ lane: 0, page: 0, pages: 0x1_0000, counter: 0, counters: 2 ** 32 });

/** Searches until the engine throws. */
async function searchToTheEnd(engine: GpuEngine, onReport: (report: SearchReport) => void = () => {}) {
  const ranges = endless();
  const reports: SearchReport[] = [];
  const ended = (async () => {
    for await (const report of engine.search(job, ranges, never)) {
      reports.push(report);
      onReport(report);
    }
  })();
  const fault = await ended.then(
    () => undefined,
    (error: unknown) => error,
  );
  ranges.expectBalanced(reports);
  return { fault, reports };
}

/** Whether a process runs: one that has ended and waits for its parent to take notice does not. */
function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return process.platform !== 'linux' || !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

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

  test('is lost when it crashes', async () => {
    const engine = gpuEngine({ fault: 'crash' });
    await engine.open();
    expect((await searchToTheEnd(engine)).fault).toMatchObject({ fault: 'lost' });
    await engine.close();
  });

  test('is lost when its device is gone', async () => {
    const engine = gpuEngine({ fault: 'device loss' });
    await engine.open();
    expect((await searchToTheEnd(engine)).fault).toMatchObject({
      fault: 'lost',
      message: expect.stringMatching(/^the GPU was lost: a dispatch failed: ./),
    });
    await engine.close();
  });

  test('is lost when it hangs, and its process is ended', async () => {
    const engine = gpuEngine({ fault: 'hang', silenceMs: 200 });
    await engine.open();
    const pid = engine.pid!;
    const { fault, reports } = await searchToTheEnd(engine);
    expect(fault).toMatchObject({ fault: 'lost', message: 'the GPU was lost: it was silent for 0.2 s' });
    expect(reports).toEqual([]);
    await engine.close();
    expect(lives(pid)).toBe(false);
  });

  test('does not open when it computes wrong hashes', async () => {
    const engine = gpuEngine({ fault: 'wrong hashes' });
    await expect(engine.open()).rejects.toMatchObject({ fault: 'wrong hashes' });
    await engine.close();
  });

  test('hands wrong nonces on as claims, for the referee to count', async () => {
    const engine = gpuEngine({ fault: 'wrong nonces' });
    await engine.open();
    for await (const { candidates } of engine.search(job, endless(), never)) {
      expect(candidates).toHaveLength(1);
      expect(solves(job, splitNonce(candidates[0]))).toBe(false);
      break;
    }
    await engine.close();
  });

  test('does not heed the signals that are meant for the miner', async () => {
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

  test('its process ends when the miner is killed', async () => {
    const miner = spawn(process.execPath, ['--input-type=module', '-e', minerThatWaits], {
      env: { ...process.env, ADAPTER_OPTIONS: JSON.stringify({ name: 'gpu0', softwareGpu: true }) },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const pid = await new Promise<number>((resolve) => {
      miner.stdout.once('data', (text) => resolve(Number(text)));
    });
    expect(lives(pid)).toBe(true);
    miner.kill('SIGKILL');
    await vi.waitFor(() => expect(lives(pid)).toBe(false), { timeout: 10_000 });
  });
});

const minerThatWaits = `
  import { GpuEngine } from ${JSON.stringify(new URL('../../../dist/engine/gpu/gpu-engine.js', import.meta.url).href)};
  const engine = new GpuEngine(JSON.parse(process.env.ADAPTER_OPTIONS));
  await engine.open();
  console.log(engine.pid);
`;
