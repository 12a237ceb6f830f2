/** `pickaxe bench --tune`: measures the kernels of each device again and remembers which one is the fastest. */

import type { Logger } from 'pino';
import { chooseEngines, type DeviceSettings, threadChoice } from '../../app/choose-engines.ts';
import { EXIT } from '../../app/exit-codes.ts';
import { kernelRows } from '../../app/kernel-rows.ts';
import type { Config } from '../../config/settings.ts';
import { type Survey, surveyKernels } from '../../engine/cpu/kernels/choose.ts';
import { DeviceError, type Engine } from '../../engine/engine.ts';
import { GpuEngine, type GpuInfo } from '../../engine/gpu/gpu-engine.ts';
import { thisMachine } from '../../system/machine.ts';
import { userCacheDirectory } from '../../system/user-directories.ts';
import { progressTo } from '../../terminal/log.ts';
import { jsonText } from '../../text/json-text.ts';
import { type GpuTuning, gpuTuning, tuningLines } from '../gpu-table.ts';
import { kernelLines, usedKernel } from '../kernel-table.ts';
import type { TuneReport } from '../tune-report.ts';

/** As often as a miner would open a GPU that keeps failing. */
const MOST_OPENINGS = 6;

export async function runTune(config: DeviceSettings, log: Logger, json: boolean): Promise<number> {
  const machine = thisMachine();
  const date = new Date().toISOString();
  const engines = await chooseEngines(config, log, { tuneAgain: true });
  const { surveys, ...cpu } = engines.some(({ kind }) => kind === 'cpu') ? await tuneCpu(config.cpu, log) : NOT_TUNED;
  const gpuEngines = engines.filter(({ kind }) => kind === 'gpu');
  const { gpus, wrongHashes } = await tuneGpus(gpuEngines, log);
  if (json) {
    const report: TuneReport = { type: 'tune', date, machine, ...cpu, gpus };
    process.stdout.write(`${jsonText(report)}\n`);
  } else {
    const lines = [
      ...(cpu.kernels ? [machine.cpu, ...kernelLines(cpu.kernels, surveys)] : []),
      ...gpus.flatMap(tuningLines),
    ];
    process.stdout.write(`${lines.join('\n')}\n`);
  }
  if (wrongHashes) return EXIT.wrongHashes;
  return cpu.kernel || gpus.length > 0 ? EXIT.done : EXIT.noDevice;
}

/** @returns a table for each GPU that can be used (the log says why another cannot), and whether one computes wrong hashes */
export async function tuneGpus(
  engines: readonly Engine[],
  log: Logger,
): Promise<{ gpus: GpuTuning[]; wrongHashes: boolean }> {
  const gpus: GpuTuning[] = [];
  let wrongHashes = false;
  for (const engine of engines) {
    try {
      if (engine instanceof GpuEngine) gpus.push(gpuTuning(engine.name, await openAgain(engine, log)));
      else await engine.open(); // throws, and says why the device is missing
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

/** Opens a GPU until it stays open: a variant of the kernel that crashes the GPU is skipped at the next attempt. */
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
