// Measures each GPU by itself, offline: every variant of the kernel, every length of a batch, and the rate when mining
// compared with the chip's limit.
//
//   node bench/gpu/rate.mjs [--devices gpu0,…] [--software-gpu] [--variant 'wgsl 64x16'] [--seconds 5] [--out FILE]
//
// The variants and lengths are measured as at the first use, and remembered for mining. With --variant only that
// variant is measured, and nothing is remembered. Then the best one mines in rounds, with two dispatches in flight. The
// ceiling is lanes × clock ÷ instructions, if the chip is known (native/compilers/cards.mjs). A software renderer has
// no ceiling: its rate is given per second of processor time of the driver's threads (Linux only), and for comparison a
// thread runs the CPU engine's AVX2 kernel in between.

import { loadKernels } from '#pickaxe/miner/engine/cpu/kernels/load-kernel.js';
import { nameOf } from '#pickaxe/miner/engine/gpu/tuning.js';
import { formatHashrate, withPrefix } from '#pickaxe/rig/status/units.js';
import { ceilingOf, lookInto, predictionsOf } from '../../native/compilers/chips.mjs';
import { median, printHeading, printTable, save } from '../lib/figures.mjs';
import { chooseGpus, engineOf, gpuArguments, listener, numbers, wishesOf } from '../lib/gpus.mjs';
import { startKernelThreads } from '../lib/kernel-threads.mjs';
import { mineFor } from '../lib/mine-offline.mjs';
import { between, threadTimes } from '../lib/process-cpu.mjs';

/** The time that is not counted: clocks rise, and dispatches find their size. */
const WARM_UP_MS = 2_000;
const ROUNDS = 5;
const YARDSTICK = 'avx2';

const values = gpuArguments({ seconds: '5' });
const [seconds] = numbers('seconds', values.seconds);
const percent = (part, whole) => `${((100 * part) / whole).toFixed(1)} %`;

function printTuning({ variants, batches }) {
  const [best] = variants;
  printTable(
    ['variant: shader, workgroup × trips', 'two in flight', 'of the best'],
    variants.map(({ variant, hashesPerSecond, fault }) =>
      hashesPerSecond
        ? [nameOf(variant), formatHashrate(hashesPerSecond), percent(hashesPerSecond, best.hashesPerSecond)]
        : [nameOf(variant), '–', fault],
    ),
  );
  const most = Math.max(...batches.map(({ hashesPerSecond }) => hashesPerSecond));
  printTable(
    ['batch', 'two in flight', 'of the most', 'less what New Cuts cost', 'of a core'],
    batches.map(({ batchMs, hashesPerSecond, score, busy }) => [
      `${batchMs} ms`,
      formatHashrate(hashesPerSecond),
      percent(hashesPerSecond, most),
      formatHashrate(score),
      percent(busy, 1),
    ]),
  );
}

/** Starts a thread with the CPU engine's kernel, if it runs here; nothing for a real GPU. */
async function startYardstick({ software }) {
  const runs = software && loadKernels([YARDSTICK]).kernels.length > 0;
  return runs ? startKernelThreads(YARDSTICK, 1) : undefined;
}

/** Mines in rounds, with the comparison thread in between. */
async function mineInRounds(engine, yardstick) {
  await mineFor(engine, WARM_UP_MS);
  const startMs = performance.now();
  const roundMs = (seconds * 1000) / ROUNDS;
  const rounds = [];
  for (let round = 0; round < ROUNDS; round++) {
    const before = yardstick && threadTimes(engine.pid);
    const mined = await mineFor(engine, roundMs);
    const driverMs = before && between(engine.pid, before, threadTimes(engine.pid)).driver;
    const { rate } = (await yardstick?.runRound(roundMs)) ?? {};
    rounds.push({ ...mined, ...(yardstick && { perCpuSecond: (1000 * mined.hashes) / driverMs, yardstick: rate }) });
  }
  return { rounds, startMs };
}

/** @returns the means of the sensors' readings while it mined */
function meanOf(readings, startMs) {
  const mined = readings.filter(({ atMs }) => atMs > startMs);
  const names = ['coreHertz', 'memoryHertz', 'powerWatts', 'temperatureCelsius', 'hotspotCelsius', 'fanRatio'];
  const means = names.flatMap((name) => {
    const known = mined.flatMap((reading) => reading[name] ?? []);
    const mean = known.reduce((sum, value) => sum + value, 0) / known.length;
    return known.length > 0 ? [[name, Number(mean.toPrecision(4))]] : [];
  });
  return Object.fromEntries(means);
}

async function measure(gpu) {
  const engine = engineOf(gpu, { tuneAgain: true, ...wishesOf(values) });
  const ears = listener();
  const { model, tuning, why, sensors } = await engine.open(ears);
  console.log(`## ${gpu.name}: ${model}\n\n${gpu.driver}; sensors: ${sensors}\n`);
  printTuning(tuning);
  const yardstick = await startYardstick(gpu);
  const { rounds, startMs } = await mineInRounds(engine, yardstick);
  await yardstick?.close();
  await engine.close();

  const rates = rounds.map(({ hashesPerSecond }) => hashesPerSecond);
  const rate = median(rates);
  const telemetry = meanOf(ears.readings, startMs);
  const ceiling = ceilingOf(model, telemetry.coreHertz && telemetry.coreHertz / 1e6);
  const result = {
    name: gpu.name,
    model,
    driver: gpu.driver,
    why,
    tuning,
    mined: { hashesPerSecond: rate, least: Math.min(...rates), most: Math.max(...rates), rounds },
    ...(ceiling && {
      ceiling,
      ofCeiling: rate / ceiling.hashesPerSecond,
      lookInto: lookInto(rate, ceiling, tuning.batches),
      predictions: predictionsOf(ceiling, tuning.variants),
    }),
    ...(Object.keys(telemetry).length > 0 && { telemetry }),
    ...(telemetry.powerWatts && { hashesPerJoule: rate / telemetry.powerWatts }),
    ...(yardstick && {
      perCpuSecond: median(rounds.map(({ perCpuSecond }) => perCpuSecond)),
      yardstick: { kernel: YARDSTICK, perCpuSecond: median(rounds.map((round) => round.yardstick)) },
    }),
  };
  printMined(result);
  return result;
}

function printMined({
  why,
  mined,
  ceiling,
  ofCeiling,
  lookInto: causes,
  predictions,
  telemetry,
  hashesPerJoule,
  perCpuSecond,
  yardstick,
}) {
  const { hashesPerSecond, least, most } = mined;
  console.log(`mined with ${why}`);
  console.log(`**${formatHashrate(hashesPerSecond)}** (${formatHashrate(least)} to ${formatHashrate(most)})\n`);
  if (ceiling) {
    const { unit, units, lanes, MHz, clock, kernels } = ceiling;
    console.log(`${percent(ofCeiling, 1)} of the ceiling: ${units} ${unit} × ${lanes} lanes × ${MHz} MHz (${clock})\n`);
    printTable(
      ['instructions a nonce', 'ceiling', 'mined'],
      kernels.map(({ instructions, what, hashesPerSecond: bound }) => [
        `${instructions}: ${what}`,
        formatHashrate(bound),
        percent(hashesPerSecond, bound),
      ]),
    );
    printTable(
      ['row of native/compilers', 'instructions', 'expected at this clock', 'measured', 'ratio', 'verdict'],
      predictions.map(({ shader, instructions, expected, measured, ratio, verdict }) => [
        shader,
        instructions,
        formatHashrate(expected),
        formatHashrate(measured),
        ratio.toFixed(2),
        verdict,
      ]),
    );
    console.log(
      `aim ${formatHashrate(ceiling.aim)}: ${causes.length === 0 ? 'reached' : `look into: ${causes.join('; ')}`}`,
    );
  } else {
    console.log(`no ceiling is known of this chip${yardstick ? ': it is the CPU' : ''}`);
  }
  if (yardstick) {
    console.log(`${formatHashrate(perCpuSecond)} per core of the driver’s threads; in between, the CPU engine’s`);
    console.log(`${yardstick.kernel}: ${formatHashrate(yardstick.perCpuSecond)} per core`);
  }
  if (telemetry)
    console.log(
      Object.entries(telemetry)
        .map(([name, value]) => `${name} ${value}`)
        .join(', '),
    );
  if (hashesPerJoule) console.log(`${withPrefix(hashesPerJoule)}H/J`);
  console.log();
}

printHeading();
const devices = [];
for (const gpu of await chooseGpus(values)) devices.push(await measure(gpu));
save(values.out, { bench: 'gpu', seconds, devices });
process.exit(0);
