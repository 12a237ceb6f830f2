/** `pickaxe devices`: what this machine can mine with, what is used, and why the rest is not. */

import { KERNEL_NAMES } from '../../engine/cpu/kernels/kernel.ts';
import { chooseKernel, loadKernel } from '../../engine/cpu/kernels/load.ts';
import { chooseThreads } from '../../engine/cpu/threads.ts';
import { listGpus } from '../../engine/gpu/gpu-engine.ts';
import { EXIT } from '../exit-codes.ts';
import { thisMachine } from '../machine.ts';

interface Kernel {
  readonly name: string;
  readonly usable: boolean;
  /** Empty for a usable one. */
  readonly why: string;
}

export async function runDevices({ json }: { readonly json: boolean }): Promise<number> {
  const machine = thisMachine();
  const kernels = KERNEL_NAMES.map(probe);
  const { threads, why } = chooseThreads();
  const kernel = kernels.some(({ usable }) => usable) ? chooseKernel().name : undefined;
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
      `      kernel ${kernel ?? 'none'}, ${threads} threads (${why})`,
      ...kernels.map(({ name, usable, why }) => `      ${usable ? '+' : '-'} ${name.padEnd(10)} ${why}`.trimEnd()),
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

function probe(name: (typeof KERNEL_NAMES)[number]): Kernel {
  try {
    loadKernel(name);
    return { name, usable: true, why: '' };
  } catch (fault) {
    return { name, usable: false, why: (fault as Error).message };
  }
}
