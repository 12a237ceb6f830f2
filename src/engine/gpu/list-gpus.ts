/** Which GPUs there are. They are looked for in a child process, as all that Dawn does. */

import { type Environment, GpuProcess } from './gpu-process.ts';
import type { Gpu } from './protocol.ts';

/**
 * Lists the GPUs there are, software ones too.
 * @throws DeviceError when there is none, or when that cannot be found out.
 */
export async function listGpus(environment?: Environment): Promise<Gpu[]> {
  const gpu = new GpuProcess(environment);
  try {
    return (await gpu.ask({ type: 'list' }, 'listed')).gpus;
  } finally {
    await gpu.close();
  }
}
