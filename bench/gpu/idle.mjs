// Measures what GPU mining costs the processor, in percent of a core: with the length of a batch that tuning chooses,
// as users have it, and with other lengths.
//
//   node bench/gpu/idle.mjs [--devices gpu0,…] [--software-gpu] [--batch-ms 2,4,8,16,32,250] [--seconds 5]
//                           [--variant 'wgsl 64x16'] [--out FILE]
//
// For the parent, all threads are counted, including this benchmark. For the GPU's process, three groups are counted:
// the thread that runs its JavaScript, the other threads of Node.js and Dawn, and those of the driver, which do the
// hashing for a software renderer. The goal is at most 5 % for each of the first two. Batches of 250 ms show the cost
// of waiting. It runs only on Linux.

import { formatHashrate } from '#pickaxe/rig/status/units.js';
import { printHeading, printTable, save } from '../lib/figures.mjs';
import { chooseGpus, engineOf, gpuArguments, listener, numbers, wishesOf } from '../lib/gpus.mjs';
import { mineFor } from '../lib/mine-offline.mjs';
import { between, threadTimes } from '../lib/process-cpu.mjs';

/** The time that is not counted: V8 compiles, and dispatches find their size. */
const WARM_UP_MS = 2_000;
const AIM_PERCENT = 5;

const values = gpuArguments({ 'batch-ms': '2,4,8,16,32,250', seconds: '5' });
const [seconds] = numbers('seconds', values.seconds);
const lengths = numbers('batch-ms', values['batch-ms']);
const columns = ['parent', 'javascript', 'others', 'driver'];

/** @param batchMs the length of a batch. The default is the tuned one */
async function measure(gpu, batchMs) {
  const engine = engineOf(gpu, wishesOf(values, batchMs));
  const { tuning } = await engine.open(listener());
  await mineFor(engine, WARM_UP_MS);
  const startMs = performance.now();
  const parentBefore = process.cpuUsage();
  const before = threadTimes(engine.pid);
  const { hashesPerSecond, reports, ms } = await mineFor(engine, seconds * 1000);
  const { main, others, driver } = between(engine.pid, before, threadTimes(engine.pid));
  const { user, system } = process.cpuUsage(parentBefore);
  const wallMs = performance.now() - startMs;
  await engine.close();
  const percent = (cpuMs) => Number(((100 * cpuMs) / wallMs).toFixed(2));
  return {
    batchMs: batchMs ?? tuning.batchMs,
    tuned: batchMs === undefined,
    hashesPerSecond,
    reportsPerSecond: Number(((1000 * reports) / ms).toFixed(1)),
    percentOfACore: {
      parent: percent((user + system) / 1000),
      javascript: percent(main),
      others: percent(others),
      driver: percent(driver),
    },
  };
}

const label = ({ batchMs, tuned }) => `${batchMs} ms${tuned ? ', as tuned' : ''}`;

printHeading();
const devices = [];
for (const gpu of await chooseGpus(values)) {
  const batches = [];
  for (const batchMs of [undefined, ...lengths]) batches.push(await measure(gpu, batchMs));
  console.log(`## ${gpu.name}: ${gpu.model}\n\npercent of a core while it mines\n`);
  printTable(
    ['batch', 'rate', 'reports/s', 'parent', 'its process: JavaScript', 'other threads', 'driver'],
    batches.map(({ batchMs, tuned, hashesPerSecond, reportsPerSecond, percentOfACore }) => [
      label({ batchMs, tuned }),
      formatHashrate(hashesPerSecond),
      reportsPerSecond,
      ...columns.map((name) => `${percentOfACore[name]} %`),
    ]),
  );
  const reached = batches.filter(
    ({ percentOfACore: { parent, javascript } }) => parent <= AIM_PERCENT && javascript <= AIM_PERCENT,
  );
  console.log(`at most ${AIM_PERCENT} % for parent and JavaScript: ${reached.map(label).join(', ') || 'none'}\n`);
  devices.push({ name: gpu.name, model: gpu.model, batches });
}
save(values.out, { bench: 'gpu-idle', seconds, aimPercent: AIM_PERCENT, devices });
process.exit(0);
