/** `pickaxe bench --tune`: measures the kernels of each device again and remembers which one is the fastest. */

import { userCacheDirectory } from '../../cache.ts';
import { surveyKernels } from '../../engine/cpu/kernels/choose.ts';
import { DeviceError, type Engine } from '../../engine/engine.ts';
import { GpuEngine } from '../../engine/gpu/gpu-engine.ts';
import { EXIT } from '../exit-codes.ts';
import { type GpuRows, gpuRows, tuningLines } from '../gpu-table.ts';
import { kernelLines, kernelRows } from '../kernel-table.ts';
import { makeLog, progressTo } from '../log.ts';
import { thisMachine } from '../machine.ts';
import { chooseEngines, type DeviceOptions, threadChoice } from '../rig.ts';

const log = makeLog('info', 'auto');

export async function runTune(options: DeviceOptions, json: boolean): Promise<number> {
  const machine = thisMachine();
  const engines = await chooseEngines({ ...options, tuneAgain: true }, log);
  const cpu = engines.some(({ kind }) => kind === 'cpu') ? await tuneCpu(options) : undefined;
  const gpus: GpuRows[] = [];
  for (const engine of engines.filter(({ kind }) => kind === 'gpu')) {
    const rows = await tuneGpu(engine);
    if (rows) gpus.push(rows);
  }
  if (json) process.stdout.write(`${JSON.stringify({ machine, ...cpu, gpus })}\n`);
  else {
    const lines = [
      ...(cpu ? [machine.cpu, ...kernelLines(cpu.kernels, cpu.threads)] : []),
      ...gpus.flatMap(tuningLines),
    ];
    process.stdout.write(`${lines.join('\n')}\n`);
  }
  return cpu?.kernel || gpus.length > 0 ? EXIT.done : EXIT.noDevice;
}

/** @returns nothing of one that cannot be used, which is said */
async function tuneGpu(engine: Engine): Promise<GpuRows | undefined> {
  try {
    const listener = progressTo(log, engine.name);
    if (engine instanceof GpuEngine) return gpuRows(engine.name, await engine.open(listener));
    await engine.open(listener); // it says why it is not there
  } catch (fault) {
    if (!(fault instanceof DeviceError)) throw fault;
    log.error({ tag: engine.name }, fault.message);
  } finally {
    await engine.close();
  }
  return undefined;
}

async function tuneCpu(options: DeviceOptions) {
  const { threads } = threadChoice(options);
  const survey = await surveyKernels({ threads, cacheDirectory: userCacheDirectory() }, true);
  const kernels = kernelRows(survey);
  if (survey.notRemembered !== undefined) {
    log.warn({ tag: 'cpu' }, `these speeds are not remembered: ${survey.notRemembered}`);
  }
  return { kernel: kernels.find(({ chosen }) => chosen)?.name, threads, kernels };
}
