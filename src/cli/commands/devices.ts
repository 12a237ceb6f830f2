/** `pickaxe devices`: what this machine can mine with, what is used, and why the rest is not. */

import { userCacheDirectory } from '../../cache.ts';
import { surveyKernels } from '../../engine/cpu/kernels/choose.ts';
import { chooseThreads } from '../../engine/cpu/threads.ts';
import { listGpus } from '../../engine/gpu/gpu-engine.ts';
import { EXIT } from '../exit-codes.ts';
import { kernelLines, kernelRows } from '../kernel-table.ts';
import { thisMachine } from '../machine.ts';

export async function runDevices({ json }: { readonly json: boolean }): Promise<number> {
  const machine = thisMachine();
  const { threads, why } = chooseThreads();
  const kernels = kernelRows(await surveyKernels({ threads, cacheDirectory: userCacheDirectory() }));
  const kernel = kernels.find(({ chosen }) => chosen)?.name;
  const cpu = { name: 'cpu', model: machine.cpu, kernel, kernels, threads, why };
  let gpus: Awaited<ReturnType<typeof listGpus>> = [];
  let noGpu = 'no adapter found';
  try {
    gpus = await listGpus();
  } catch (fault) {
    noGpu = (fault as Error).message;
  }
  if (json) {
    process.stdout.write(`${JSON.stringify({ machine, cpu, gpus, ...(gpus.length === 0 && { noGpu }) })}\n`);
  } else {
    const lines = [
      `cpu   ${cpu.model}`,
      `      kernel ${kernel ?? 'none'}, ${threads} ${threads === 1 ? 'thread' : 'threads'} (${why})`,
      ...kernelLines(kernels, threads).map((line) => `      ${line}`),
      ...gpus.flatMap((gpu) => [
        `${gpu.name.padEnd(5)} ${gpu.model}`,
        `      ${gpu.usable ? '+' : '-'} ${gpu.backend}, ${gpu.description} (${gpu.why})`,
      ]),
      ...(gpus.length === 0 ? [`gpu   none: ${noGpu}`] : []),
    ];
    process.stdout.write(`${lines.join('\n')}\n`);
  }
  return kernel || gpus.some(({ usable }) => usable) ? EXIT.done : EXIT.noDevice;
}
