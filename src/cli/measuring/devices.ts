/** `pickaxe devices`: lists devices and kernels, each with the reason why it is used or not. */

import { availableParallelism } from 'node:os';
import type { Command } from 'commander';
import { z } from 'zod';
import { KernelRow, kernelRows, threadChoice, usableKernel } from '../../app/composition/choose-engines.ts';
import type { Loaded } from '../../app/config/load.ts';
import { EXIT } from '../../app/process/exit.ts';
import { userCacheDirectory } from '../../base/system/files.ts';
import { Machine, thisMachine } from '../../base/system/machine.ts';
import { jsonText } from '../../base/text/plain-text.ts';
import { plural } from '../../base/text/quantities.ts';
import { openCpuSensors } from '../../miner/engine/cpu/cpu-sensors.ts';
import { type Survey, surveyKernels } from '../../miner/engine/cpu/kernels/choose.ts';
import { FOREIGN, nativeOrigin, ORIGINS } from '../../miner/engine/cpu/kernels/native-kernels.ts';
import type { Gpu } from '../../miner/engine/gpu/list-gpus.ts';
import { inWords } from '../../rig/status/units.ts';
import { gpusOf, type Io, type Line } from '../io.ts';
import { settingsOf, withSettings } from '../usage/options.ts';

export function declare(command: Command, { io, action }: Line): void {
  withSettings(command, 'cpu', 'gpu.software')
    .option('--json', 'one JSON object on stdout', false)
    .action(action(async (options) => runDevices(await settingsOf(command), options, io)));
}

interface DevicesOptions {
  readonly json: boolean;
}

async function runDevices({ config }: Loaded, options: DevicesOptions, io: Io): Promise<number> {
  const machine = thisMachine();
  const { threads, groups, why } = threadChoice(config.cpu);
  const asked = config.cpu.kernel === undefined ? undefined : usableKernel(config.cpu.kernel);
  const surveys = await surveyKernels({ groups, cacheDirectory: userCacheDirectory() });
  const kernels = kernelRows(surveys, asked);
  const kernel = usedKernel(kernels);
  const native = nativeOrigin() ?? 'none';
  const { cpu: model } = machine;
  const { what: sensors } = await openCpuSensors({ threads });
  let gpus: Gpu[] = [];
  let noGpu = 'no adapter found';
  try {
    gpus = await gpusOf(io, { softwareGpu: config.gpu.software });
  } catch (fault) {
    noGpu = (fault as Error).message;
  }
  if (options.json) {
    const cpu = { name: 'cpu', model, ...(kernel && { kernel }), native, kernels, threads, why, sensors } as const;
    const report: DevicesReport = { machine, cpu, gpus, ...(gpus.length === 0 && { noGpu }) };
    io.out(`${jsonText(report)}\n`);
  } else {
    const lines = [
      `cpu   ${model}`,
      `      kernel ${kernel ?? 'none'}, ${plural(threads, 'thread')} (${why})`,
      `      native kernels: ${inWords(native)}`,
      `      sensors: ${sensors}`,
      ...kernelLines(kernels, surveys).map((line) => `      ${line}`),
      ...gpus.flatMap(gpuLines),
      ...(gpus.length === 0 ? [`gpu   none: ${noGpu}`] : []),
    ];
    io.out(`${lines.join('\n')}\n`);
  }
  return kernel || gpus.some(({ usable }) => usable) ? EXIT.done : EXIT.noDevice;
}

function gpuLines({ name, model, backend, driver, bus, usable, why }: Gpu): string[] {
  return [
    `${name.padEnd(5)} ${model}`,
    `      ${backend}, ${driver}, bus ${bus ?? 'not known'}`,
    `      ${usable ? '+ used' : '- not used'}: ${why}`,
  ];
}

const Cpu = z.object({
  name: z.literal('cpu'),
  model: z.string(),
  kernel: z.string().exactOptional().describe('the one in use, if any is usable'),
  native: z.enum([...ORIGINS, 'none']).describe('where native kernels come from'),
  kernels: z.array(KernelRow),
  threads: z.int().positive(),
  why: z.string(),
  sensors: z.string().describe('what they report, or why nothing'),
});

const ListedGpu = z.object({
  name: z.string(),
  model: z.string(),
  backend: z.string().describe('`vulkan`, `d3d12`, `metal`'),
  vendor: z.string().describe('`nvidia`, `amd`, `intel`, …, or `unknown`'),
  driver: z.string(),
  software: z.boolean(),
  bus: z.string().exactOptional().describe('its PCI address'),
  environment: z
    .record(z.string(), z.string())
    .exactOptional()
    .describe('variables with which a process sees this GPU alone, if needed'),
  usable: z.boolean(),
  why: z.string(),
});

export const DevicesReport = z
  .object({
    machine: Machine,
    cpu: Cpu,
    gpus: z.array(ListedGpu),
    noGpu: z.string().exactOptional().describe('why there is no GPU'),
  })
  .describe('the devices of this machine');
export type DevicesReport = Readonly<z.infer<typeof DevicesReport>>;

/**
 * @param surveys one for each kind of cores
 * @returns a line for each kernel, grouped by the kind of cores. On a hybrid CPU, each group has a heading. The kernels
 *   for other CPU architectures share one line. The last line is a legend
 */
export function kernelLines(
  rows: readonly KernelRow[],
  surveys: readonly Pick<Survey, 'kind' | 'threads'>[],
): string[] {
  const foreign = [...new Set(rows.filter(({ why }) => why === FOREIGN).map(({ name }) => name))];
  const threads = surveys.reduce((sum, survey) => sum + survey.threads, 0);
  // Number of threads that were busy during the measurement.
  const busy = Math.min(threads, availableParallelism());
  return [
    ...surveys.flatMap(({ kind, threads }) => [
      ...(kind === undefined ? [] : [`${kind} cores, ${plural(threads, 'thread')}:`]),
      ...rows.filter(({ cores, why }) => cores === kind && why !== FOREIGN).map(kernelLine),
    ]),
    ...(foreign.length > 0 ? [`- ${foreign.join(', ')}: ${FOREIGN}`] : []),
    `MH/s of one thread${busy > 1 ? ` while ${busy} are busy` : ''}; * is used, + can be used (--kernel NAME), - cannot be used here`,
  ];
}

function kernelLine({ name, usable, chosen, hashesPerSecond, why }: KernelRow): string {
  const mark = chosen ? '*' : usable ? '+' : '-';
  const speed = hashesPerSecond === undefined ? '' : `${(hashesPerSecond / 1e6).toFixed(1)} MH/s`;
  return `${mark} ${name.padEnd(11)} ${speed.padStart(11)}   ${why}`;
}

/** @returns the names of the kernels in use, joined with `+`; undefined if no kernel is in use */
export function usedKernel(rows: readonly KernelRow[]): string | undefined {
  const chosen = new Set(rows.filter(({ chosen }) => chosen).map(({ name }) => name));
  return chosen.size > 0 ? [...chosen].join('+') : undefined;
}
