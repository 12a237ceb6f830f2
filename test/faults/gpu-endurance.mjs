// Runs thousands of dispatches through one engine, with a new job now and then, to see whether memory grows.
//
//   node test/faults/gpu-endurance.mjs [--devices gpu0] [--software-gpu] [--dispatches 10000] [--warm-up 20000] [--batch-ms 2]
//     [--allow-kib 512] [--variant 'wgsl 64x16'] [--out FILE]
//
// The target is so easy that a dispatch has a few hits, each of which is checked. Dispatches with hits are reported
// separately, so they can be counted. The memory of parent and child is sampled; a line through the last two thirds of
// the samples shows how much it grows in 1000 dispatches. The exit code is 1 when that is more than allowed, or when a
// hit is wrong. It runs only on Linux.
//
// The warm-up is needed because V8 keeps about 1.2 KiB of each dispatch in its heap until its first full collection,
// after some 19,000 dispatches. In the child, the space of young objects was seen to grow from 16 to 27 MiB, and that
// of old objects from 10 to 22 MiB, after which it stays between 9 and 17 MiB.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { solves } from '#pickaxe/protocol/chain/job.js';
import { splitNonce } from '#pickaxe/protocol/chain/nonce.js';
import { integerToTarget } from '#pickaxe/protocol/chain/target.js';
import { formatHashrate } from '#pickaxe/rig/status/units.js';
import { printHeading, printTable, save } from '../../bench/lib/figures.mjs';
import { chooseGpus, engineOf, gpuArguments, listener, numbers, wishesOf } from '../../bench/lib/gpus.mjs';
import { newJob, newSpace } from '../../bench/lib/mine-offline.mjs';
import { rssKib } from '../../bench/lib/process-cpu.mjs';

/** The number of dispatches between jobs: a run of 10,000 has 20 jobs. */
const JOB_DISPATCHES = 500;
const SAMPLES = 90;
/** The average number of hits. With it, one dispatch in 150 has none. */
const HITS_A_DISPATCH = 5;
const values = gpuArguments({
  dispatches: '10000',
  'warm-up': '20000',
  'batch-ms': '2',
  // A leak of half a KiB per dispatch would be far above noise: its buffers have 64 KiB, and its smallest object a
  // tenth of that.
  'allow-kib': '512',
});
const [dispatches] = numbers('dispatches', values.dispatches);
const [warmUp] = numbers('warm-up', values['warm-up']);
const [allowKib] = numbers('allow-kib', values['allow-kib']);
const [batchMs] = numbers('batch-ms', values['batch-ms']);

setFlagsFromString('--expose-gc');
/**
 * Garbage that V8 has not collected yet would look like growth: tens of thousands of dispatches pass between
 * collections.
 */
const collectGarbage = runInNewContext('gc');

/** A target that about HITS_A_DISPATCH nonces of a dispatch meet. */
function easyTarget(hashesPerSecond) {
  const counters = Math.max(1, Math.round((hashesPerSecond * batchMs) / 1000));
  return integerToTarget((2n ** 256n * BigInt(HITS_A_DISPATCH)) / BigInt(counters));
}

/** Searches one job after the other. @returns counts, and samples of the memory */
async function endure(engine, target, dispatches) {
  const counts = { dispatches: 0, hashes: 0, hits: 0, wrongHits: 0, jobs: 0 };
  const samples = [];
  const sample = () => {
    collectGarbage();
    samples.push({ dispatches: counts.dispatches, parent: rssKib(process.pid), child: rssKib(engine.pid) });
  };
  const startMs = performance.now();
  while (counts.dispatches < dispatches) {
    const job = newJob(target);
    const stop = new AbortController();
    counts.jobs++;
    let ofJob = 0;
    for await (const { hashes, candidates } of engine.search(job, newSpace(), stop.signal)) {
      counts.dispatches++;
      counts.hashes += hashes;
      counts.hits += candidates.length;
      counts.wrongHits += candidates.filter((nonce) => !solves(job, splitNonce(nonce))).length;
      if (counts.dispatches % Math.ceil(dispatches / SAMPLES) === 0) sample();
      if (++ofJob === JOB_DISPATCHES || counts.dispatches >= dispatches) stop.abort();
    }
  }
  return { ...counts, seconds: (performance.now() - startMs) / 1000, samples };
}

/** @returns KiB per 1000 dispatches, by least squares through the last two thirds */
function slope(samples, whose) {
  const points = samples
    .slice(Math.floor(samples.length / 3))
    .map((sample) => [sample.dispatches / 1000, sample[whose]]);
  const mean = (i) => points.reduce((sum, point) => sum + point[i], 0) / points.length;
  const [x, y] = [mean(0), mean(1)];
  const sum = (f) => points.reduce((total, point) => total + f(point), 0);
  return sum(([px, py]) => (px - x) * (py - y)) / sum(([px]) => (px - x) ** 2);
}

printHeading();
const devices = [];
for (const gpu of await chooseGpus(values)) {
  const engine = engineOf(gpu, wishesOf(values, batchMs));
  const { tuning } = await engine.open(listener());
  const target = easyTarget(tuning.hashesPerSecond);
  await endure(engine, target, warmUp);
  const { samples, seconds, ...counts } = await endure(engine, target, dispatches);
  await engine.close();
  const growth = { parent: slope(samples, 'parent'), child: slope(samples, 'child') };
  const flat = Math.max(growth.parent, growth.child) <= allowKib;
  const { hashes, hits, wrongHits, jobs } = counts;
  console.log(
    `## ${gpu.name}: ${gpu.model}\n\n${counts.dispatches} dispatches of ${batchMs} ms and more, ${jobs} jobs`,
  );
  console.log(
    `${seconds.toFixed(0)} s, ${formatHashrate(hashes / seconds)}, ${hits} hits, ${wrongHits} of them wrong\n`,
  );
  printTable(
    ['RSS', 'after a third', 'at the end', 'KiB per 1000 dispatches'],
    ['parent', 'child'].map((whose) => [
      whose,
      ...[samples[Math.floor(samples.length / 3)], samples.at(-1)].map(
        (each) => `${(each[whose] / 1024).toFixed(1)} MiB`,
      ),
      growth[whose].toFixed(0),
    ]),
  );
  console.log(flat ? `flat: at most ${allowKib} are allowed\n` : `it GROWS: ${allowKib} are allowed\n`);
  devices.push({ name: gpu.name, model: gpu.model, ...counts, seconds, kibPer1000Dispatches: growth, flat, samples });
}
save(values.out, { bench: 'gpu-endurance', batchMs, allowKib, devices });
process.exit(devices.every(({ flat, wrongHits }) => flat && wrongHits === 0) ? 0 : 1);
