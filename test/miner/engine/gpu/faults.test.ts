/**
 * Injects faults into a GPU: the engine must report them, and lose no range. `faults.long.test.ts` has more of them.
 */

import { expect, test, vi } from 'vitest';
import { solves } from '#pickaxe/protocol/chain/job.js';
import { splitNonce } from '#pickaxe/protocol/chain/nonce.js';
import { isRunning } from '../../../running.ts';
import { describeGpu, gpuEngine } from './adapter.ts';
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
});
