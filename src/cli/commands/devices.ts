/** `pickaxe devices`: lists what this machine can mine with, what is used, and why the rest is not used. */

import { threadChoice, usableKernel } from '../../app/choose-engines.ts';
import { EXIT } from '../../app/exit-codes.ts';
import { kernelRows } from '../../app/kernel-rows.ts';
import type { Loaded } from '../../config/load.ts';
import { surveyKernels } from '../../engine/cpu/kernels/choose.ts';
import { nativeOrigin } from '../../engine/cpu/kernels/native.ts';
import { openCpuSensors } from '../../engine/cpu/sensors/sensors.ts';
import { type Gpu, listGpus } from '../../engine/gpu/list-gpus.ts';
import { inWords } from '../../report/units.ts';
import { thisMachine } from '../../system/machine.ts';
import { userCacheDirectory } from '../../system/user-directories.ts';
import { jsonText } from '../../text/json-text.ts';
import type { DevicesReport } from '../devices-report.ts';
import { kernelLines, usedKernel } from '../kernel-table.ts';

export interface DevicesOptions {
  readonly json: boolean;
}

export async function runDevices({ config }: Loaded, options: DevicesOptions): Promise<number> {
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
    gpus = await listGpus({ softwareGpu: config.gpu.software });
  } catch (fault) {
    noGpu = (fault as Error).message;
  }
  if (options.json) {
    const cpu = { name: 'cpu', model, ...(kernel && { kernel }), native, kernels, threads, why, sensors } as const;
    const report: DevicesReport = { machine, cpu, gpus, ...(gpus.length === 0 && { noGpu }) };
    process.stdout.write(`${jsonText(report)}\n`);
  } else {
    const lines = [
      `cpu   ${model}`,
      `      kernel ${kernel ?? 'none'}, ${threads} ${threads === 1 ? 'thread' : 'threads'} (${why})`,
      `      native kernels: ${inWords(native)}`,
      `      sensors: ${sensors}`,
      ...kernelLines(kernels, surveys).map((line) => `      ${line}`),
      ...gpus.flatMap(gpuLines),
      ...(gpus.length === 0 ? [`gpu   none: ${noGpu}`] : []),
    ];
    process.stdout.write(`${lines.join('\n')}\n`);
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
