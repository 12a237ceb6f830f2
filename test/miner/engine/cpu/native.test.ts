import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { formatCpuList, parseCpuList } from '#pickaxe/base/text/quantities.js';
import { addonCores, threadCpuMs } from '#pickaxe/miner/engine/cpu/kernels/native-kernels.js';
import { nativeIsBuilt } from './loadable-kernels.ts';

test.runIf(nativeIsBuilt)('the processor time of a thread rises while it works, in parts of a millisecond', () => {
  const before = threadCpuMs()!;
  let later = before;
  while (later < before + 2) later = threadCpuMs()!;
  expect(later).toBeLessThan(before + 1_000);
  expect(Number.isInteger(later)).toBe(false);
});

test.runIf(nativeIsBuilt)('another thread has a processor time of its own', async () => {
  const addon = JSON.stringify(fileURLToPath(new URL('../../../../native/build/pickaxe.node', import.meta.url)));
  const own = threadCpuMs()!;
  const worker = new Worker(`require('worker_threads').parentPort.postMessage(require(${addon}).threadCpuMs())`, {
    eval: true,
  });
  const [ms] = await once(worker, 'message');
  expect(ms).toBeGreaterThan(0);
  expect(threadCpuMs()).toBeGreaterThan(own);
  expect(ms).not.toBe(own);
});

test.runIf(nativeIsBuilt && process.platform === 'linux')('the addon lists no cores on Linux, where /sys does', () => {
  expect(addonCores()).toEqual([]);
});

const allowed = () => /^Cpus_allowed_list:\s*(\S+)$/m.exec(readFileSync('/proc/thread-self/status', 'utf8'))![1];
const cpus = process.platform === 'linux' ? parseCpuList(allowed())! : [];

test.runIf(nativeIsBuilt && cpus.length > 1)(
  'a thread can be confined to several CPUs, and to one of them',
  async () => {
    const before = allowed();
    const [first, last] = [cpus[0], cpus.at(-1)!];
    const sets = [[last, first], [last], [first, last]];
    const worker = new Worker(new URL('./pin-thread.mjs', import.meta.url), { workerData: sets });
    const [seen] = await once(worker, 'message');
    expect(seen).toEqual(sets.map(formatCpuList));
    expect(allowed()).toBe(before);
  },
);
