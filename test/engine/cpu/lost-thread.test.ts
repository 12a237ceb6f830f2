import type { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { CpuEngine } from '#pickaxe/engine/cpu/cpu-engine.js';
import { DeviceError, type SearchReport } from '#pickaxe/engine/engine.js';
import { jobOf, nothingSolves, someHeaderHex } from '../../contract/jobs.ts';
import { Rectangle } from '../../contract/rectangle.ts';

test('a thread that dies ends the search as a lost device, and its range is given back', async () => {
  const threads: Worker[] = [];
  const remember = (thread: Worker) => threads.push(thread);
  process.on('worker', remember);
  const engine = new CpuEngine({ kernel: 'js', threads: 2 });
  await engine.open();
  process.off('worker', remember);
  expect(threads).toHaveLength(2);

  const ranges = new Rectangle({ lane: 0, page: 0, pages: 0x1_0000, counter: 0, counters: 0x1_0000_0000 });
  const reports: SearchReport[] = [];
  const searching = (async () => {
    for await (const report of engine.search(
      jobOf(someHeaderHex, nothingSolves),
      ranges,
      new AbortController().signal,
    )) {
      reports.push(report);
      void threads[0].terminate();
    }
  })();
  const error = await searching.catch((error) => error);
  expect(error).toBeInstanceOf(DeviceError);
  expect(error.fault).toBe('lost');
  ranges.expectBalanced(reports);
  await engine.close();
});
