// Measures how soon every device searches new work after a New Cut. The mock node runs in another process, over the
// loopback interface, while all cores hash.
//
//   node bench/mining/restart.mjs [--devices cpu] [--cuts 300] [--warm-up 40] [--threads N] [--affinity none|LIST]
//                          [--niceness 19] [--spacing-ms 250] [--out FILE]
//                          [--devices gpu0 | gpu] [--software-gpu] [--gpu-batch-ms 2,5,10,20] [--variant 'wgsl 64x16']
//
// There are three times for each New Cut: from its line on the wire to the first hash of the new job; from there to all
// threads on the new job; and from the arrival of the work at the miner to all threads on it. For a GPU, "first hash"
// is the submission of its first dispatch, which waits behind those in flight, so the time until the miner knows its
// end is given, too. Several lengths of a batch are run one after the other; by default the tuned length is used. New
// Cuts of the warm-up are not counted, because V8 compiles the code that they run.
//
// The scheduler's switches show what dominates. The median is the work of the two JavaScript main threads, one after
// the other. Threads that are not pinned are woken two on one CPU, where the second waits for the next tick of the
// clock (4 ms at 250 Hz): p90 is 2.9 ms from the arrival of work to all threads, and 0.9 ms with pinned threads. The
// rest above 1 ms comes from threads of normal priority on the CPU of a hashing thread: V8's threads, which collect
// garbage and compile, and the mock node.

import { parseArgs } from 'node:util';
import { parseCpuList } from '#pickaxe/base/text/quantities.js';
import { CpuEngine } from '#pickaxe/miner/engine/cpu/cpu-engine.js';
import { printHeading, printTable, save } from '../lib/figures.mjs';
import { chooseGpus, engineOf, numbers, wishesOf } from '../lib/gpus.mjs';
import { runCuts } from './restart-scenario.mjs';

const { values } = parseArgs({
  options: {
    devices: { type: 'string', default: 'cpu' },
    'software-gpu': { type: 'boolean', default: false },
    'gpu-batch-ms': { type: 'string' },
    variant: { type: 'string' },
    cuts: { type: 'string', default: '300' },
    'warm-up': { type: 'string', default: '40' },
    threads: { type: 'string' },
    affinity: { type: 'string' },
    niceness: { type: 'string' },
    // Longer than the time of a burst.
    'spacing-ms': { type: 'string', default: '250' },
    out: { type: 'string' },
  },
});
printHeading();

/** The length of the warm-up for each further length of a batch, when everything is compiled. */
const LATER_WARM_UP_CUTS = 5;

const withCpu = values.devices.includes('cpu');
const gpus = values.devices.includes('gpu') ? await chooseGpus(values) : [];
const [cuts] = numbers('cuts', values.cuts);
const [warmUp] = numbers('warm-up', values['warm-up']);
const [spacingMs] = numbers('spacing-ms', values['spacing-ms']);
const lengths = values['gpu-batch-ms'] ? numbers('gpu-batch-ms', values['gpu-batch-ms']) : [undefined];
let why = '';

/** An engine that records what it has chosen, and why. */
function cpuEngine() {
  const engine = new CpuEngine({
    ...(values.threads && { threads: Number(values.threads) }),
    ...(values.niceness && { niceness: Number(values.niceness) }),
    ...(values.affinity && { affinity: values.affinity === 'none' ? 'none' : parseCpuList(values.affinity) }),
  });
  const open = engine.open.bind(engine);
  engine.open = async () => {
    const info = await open();
    why = info.detail;
    return info;
  };
  return engine;
}

const runs = [];
for (const [i, batchMs] of lengths.entries()) {
  const engines = [...(withCpu ? [cpuEngine()] : []), ...gpus.map((gpu) => engineOf(gpu, wishesOf(values, batchMs)))];
  const warmUpCuts = i === 0 ? warmUp : Math.min(warmUp, LATER_WARM_UP_CUTS);
  const { figures, missed } = await runCuts({ engines, cuts, warmUpCuts, spacingMs });
  runs.push({ ...(batchMs !== undefined && { batchMs }), milliseconds: figures, missed });
  if (batchMs !== undefined) console.error(`… batches of ${batchMs} ms done`);
}

if (why) console.log(`${why}\n`);
const ofBatch = ({ batchMs }) => (batchMs === undefined ? [] : [`${batchMs} ms`]);
printTable(
  [...(values['gpu-batch-ms'] ? ['batch'] : []), 'milliseconds', 'p50', 'p90', 'p99', 'most', 'n'],
  runs.flatMap((run) =>
    Object.entries(run.milliseconds).map(([name, row]) => [...ofBatch(run), name, ...Object.values(row)]),
  ),
);
for (const { missed } of runs) {
  if (missed > 0) console.log(`${missed} of ${cuts} cuts led to no new work in time, or a device did not get to it`);
}
const result = values['gpu-batch-ms'] ? { runs } : { milliseconds: runs[0].milliseconds, missed: runs[0].missed };
save(values.out, { bench: 'restart', devices: values.devices, ...(why && { cpu: why }), ...result });
process.exit(0);
