import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { CpuEngine } from '#pickaxe/miner/engine/cpu/cpu-engine.js';
import { DeviceError, type SearchReport } from '#pickaxe/miner/engine/engine.js';
import { jobOf, nothingSolves, someHeaderHex } from '../../../interfaces/jobs.ts';
import { Rectangle } from '../../../interfaces/rectangle.ts';
import { ourNiceness } from '../../../priority.ts';

/** Opens an engine with two threads. */
async function openEngine() {
  const threads: Worker[] = [];
  const remember = (thread: Worker) => threads.push(thread);
  process.on('worker', remember);
  const engine = new CpuEngine({ kernel: 'wasm', threads: 2, niceness: ourNiceness });
  await engine.open();
  process.off('worker', remember);
  expect(threads).toHaveLength(2);
  return { engine, threads };
}

const wholeLane = () =>
  new Rectangle({ lane: 0, step: 1, page: 0, pages: 0x1_0000, counter: 0, counters: 0x1_0000_0000 });
const job = jobOf(someHeaderHex, nothingSolves);

test('a thread that dies gives its range back, and the search ends with a lost device', async () => {
  const { engine, threads } = await openEngine();
  const ranges = wholeLane();
  const reports: SearchReport[] = [];
  const searching = (async () => {
    for await (const report of engine.search(job, ranges, new AbortController().signal)) {
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

test('a thread that dies between searches makes the next ones fail, until the engine is opened again', async () => {
  const { engine, threads } = await openEngine();
  const gone = once(threads[1], 'exit');
  await threads[1].terminate();
  await gone;
  for (let searches = 0; searches < 2; searches++) {
    const ranges = wholeLane();
    const reports: SearchReport[] = [];
    const searching = (async () => {
      for await (const report of engine.search(job, ranges, new AbortController().signal)) reports.push(report);
    })();
    const error = await searching.catch((error) => error);
    expect(error).toBeInstanceOf(DeviceError);
    expect(error).toMatchObject({ fault: 'lost', message: 'a CPU thread failed: it has ended' });
    ranges.expectBalanced(reports);
  }
  await engine.close();

  await engine.open();
  for await (const { hashes } of engine.search(job, wholeLane(), new AbortController().signal)) {
    expect(hashes).toBeGreaterThan(0);
    break;
  }
  await engine.close();
});
