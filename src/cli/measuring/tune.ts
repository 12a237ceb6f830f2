/** `pickaxe bench --tune`: measures the kernels of each device again, and remembers the fastest. */

import type { Logger } from 'pino';
import { z } from 'zod';
import {
  chooseEngines,
  type DeviceSettings,
  KernelRow,
  kernelRows,
  threadChoice,
} from '../../app/composition/choose-engines.ts';
import type { Config } from '../../app/config/settings.ts';
import { EXIT } from '../../app/process/exit.ts';
import { userCacheDirectory } from '../../base/system/files.ts';
import { Machine, thisMachine } from '../../base/system/machine.ts';
import { jsonText } from '../../base/text/plain-text.ts';
import { type Survey, surveyKernels } from '../../miner/engine/cpu/kernels/choose.ts';
import { DeviceError, type Engine } from '../../miner/engine/engine.ts';
import { GpuEngine, type GpuInfo } from '../../miner/engine/gpu/gpu-engine.ts';
import { nameOf, SHADER_NAMES } from '../../miner/engine/gpu/tuning.ts';
import { formatHashrate, formatPercent } from '../../rig/status/units.ts';
import { progressTo } from '../../rig/terminal/log.ts';
import type { Io } from '../io.ts';
import { formatMilliseconds } from './bench-report.ts';
import { kernelLines, usedKernel } from './devices.ts';

/** Maximum number of attempts to open a GPU. It is the same as when mining. */
const MOST_OPENINGS = 6;

export async function runTune(config: DeviceSettings, log: Logger, json: boolean, io: Io): Promise<number> {
  const machine = thisMachine();
  const date = new Date().toISOString();
  const engines = await chooseEngines(config, log, { tuneAgain: true });
  const { surveys, ...cpu } = engines.some(({ kind }) => kind === 'cpu') ? await tuneCpu(config.cpu, log) : NOT_TUNED;
  const gpuEngines = engines.filter(({ kind }) => kind === 'gpu');
  const { gpus, wrongHashes } = await tuneGpus(gpuEngines, log);
  if (json) {
    const report: TuneReport = { type: 'tune', date, machine, ...cpu, gpus };
    io.out(`${jsonText(report)}\n`);
  } else {
    const lines = [
      ...(cpu.kernels ? [machine.cpu, ...kernelLines(cpu.kernels, surveys)] : []),
      ...gpus.flatMap(tuningLines),
    ];
    io.out(`${lines.join('\n')}\n`);
  }
  if (wrongHashes) return EXIT.wrongHashes;
  return cpu.kernel || gpus.length > 0 ? EXIT.done : EXIT.noDevice;
}

/** @returns the tuning of usable GPUs, and whether any GPU computes wrong hashes. Faults are written to the log */
export async function tuneGpus(
  engines: readonly Engine[],
  log: Logger,
): Promise<{ gpus: GpuTuning[]; wrongHashes: boolean }> {
  const gpus: GpuTuning[] = [];
  let wrongHashes = false;
  for (const engine of engines) {
    try {
      if (engine instanceof GpuEngine) gpus.push(gpuTuning(engine.name, await openAgain(engine, log)));
      else await engine.open(); // Throws the reason why the device is missing.
    } catch (fault) {
      if (!(fault instanceof DeviceError)) throw fault;
      if (fault.fault === 'wrong-hashes') wrongHashes = true;
      log.error({ tag: engine.name }, fault.message);
    } finally {
      await engine.close();
    }
  }
  return { gpus, wrongHashes };
}

/** Opens a GPU. After a crash, opens the GPU again, but without the kernel variants that have crashed it before. */
async function openAgain(engine: GpuEngine, log: Logger): Promise<GpuInfo> {
  const listener = progressTo(log, engine.name);
  for (let openings = 1; ; openings++) {
    try {
      return await engine.open(listener);
    } catch (fault) {
      if (!(fault instanceof DeviceError) || fault.fault !== 'lost' || openings >= MOST_OPENINGS) throw fault;
      log.warn({ tag: engine.name }, `trying again: ${fault.message}`);
    }
  }
}

interface TunedCpu extends Pick<TuneReport, 'kernel' | 'threads' | 'kernels'> {
  readonly surveys: readonly Survey[];
}

const NOT_TUNED: TunedCpu = { surveys: [] };

async function tuneCpu(cpu: Config['cpu'], log: Logger): Promise<TunedCpu> {
  const { threads, groups } = threadChoice(cpu);
  const surveys = await surveyKernels({ groups, cacheDirectory: userCacheDirectory() }, true);
  const kernels = kernelRows(surveys);
  for (const { kind, notRemembered } of surveys) {
    if (notRemembered === undefined) continue;
    const whose = kind === undefined ? 'these speeds' : `the speeds on ${kind} cores`;
    log.warn({ tag: 'cpu' }, `${whose} are not remembered: ${notRemembered}`);
  }
  const kernel = usedKernel(kernels);
  return { ...(kernel !== undefined && { kernel }), threads, kernels, surveys };
}

const VariantRow = z.object({
  name: z.string().describe('`wgsl 128×16`'),
  shader: z.enum(SHADER_NAMES),
  workgroupSize: z.int().positive(),
  noncesPerInvocation: z.int().positive(),
  chosen: z.boolean(),
  hashesPerSecond: z.number().exactOptional(),
  why: z.string().exactOptional().describe('why it is not usable'),
});

const BatchRow = z.object({
  batchSeconds: z.number().positive().describe('of one dispatch'),
  chosen: z.boolean(),
  hashesPerSecond: z.number(),
  worthHashesPerSecond: z.number().describe('less what is lost when work becomes stale'),
  busyRatio: z.number().describe('the part of a core that feeding the GPU keeps busy'),
});

export const GpuTuning = z.object({
  name: z.string(),
  model: z.string(),
  driver: z.string(),
  why: z.string().describe('why this variant and batch length are used, or cannot be remembered'),
  variants: z.array(VariantRow),
  batches: z.array(BatchRow).describe('of the chosen variant'),
});
export type GpuTuning = Readonly<z.infer<typeof GpuTuning>>;

function gpuTuning(name: string, { model, gpu, why, tuning }: GpuInfo): GpuTuning {
  const variants = tuning.variants.map(({ variant, hashesPerSecond, fault }) => ({
    name: nameOf(variant),
    shader: variant.shader,
    workgroupSize: variant.workgroupSize,
    noncesPerInvocation: variant.trips,
    chosen: nameOf(variant) === nameOf(tuning.variant),
    ...(hashesPerSecond !== undefined && { hashesPerSecond }),
    ...(fault !== undefined && { why: fault }),
  }));
  const batches = tuning.batches.map(({ batchMs, hashesPerSecond, score, busy }) => ({
    batchSeconds: batchMs / 1000,
    chosen: batchMs === tuning.batchMs,
    hashesPerSecond,
    worthHashesPerSecond: score,
    busyRatio: busy,
  }));
  return { name, model, driver: gpu.driver, why, variants, batches };
}

export function tuningLines({ name, model, driver, why, variants, batches }: GpuTuning): string[] {
  const mark = (chosen: boolean) => (chosen ? '*' : '+');
  const best = variants[0].hashesPerSecond ?? Number.NaN;
  return [
    `${name}  ${model}; ${driver}`,
    why,
    ...variants.map(({ name, chosen, hashesPerSecond, why }) => {
      if (hashesPerSecond === undefined) return `- ${name.padEnd(28)} ${why}`;
      const rate = formatHashrate(hashesPerSecond).padStart(12);
      return `${mark(chosen)} ${name.padEnd(28)} ${rate}  ${formatPercent(hashesPerSecond / best, 1)}`;
    }),
    'workgroup size × nonces per invocation; * is used',
    ...batches.map(({ batchSeconds, chosen, hashesPerSecond, worthHashesPerSecond, busyRatio }) => {
      const rate = formatHashrate(hashesPerSecond).padStart(12);
      const worth = `worth ${formatHashrate(worthHashesPerSecond)}, ${formatPercent(busyRatio, 1)} of a core`;
      return `${mark(chosen)} ${formatMilliseconds(batchSeconds).padEnd(28)} ${rate}  ${worth}`;
    }),
    'length of a batch (--gpu-batch-ms), * is the best; worth: the hashrate less what is lost when work becomes stale; of a core: how busy feeding the GPU keeps a processor core',
  ];
}

export const TuneReport = z
  .object({
    type: z.literal('tune'),
    date: z.iso.datetime().describe('ISO 8601, in UTC'),
    machine: Machine,
    kernel: z.string().exactOptional().describe('if the CPU was tuned'),
    threads: z.int().positive().exactOptional().describe('if the CPU was tuned'),
    kernels: z.array(KernelRow).exactOptional().describe('if the CPU was tuned'),
    gpus: z.array(GpuTuning),
  })
  .describe('what was measured');
export type TuneReport = Readonly<z.infer<typeof TuneReport>>;
