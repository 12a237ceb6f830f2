/** What `pickaxe bench --tune --json` prints. */

import { z } from 'zod';
import { KernelRow } from '../app/kernel-rows.ts';
import { Machine } from '../system/machine.ts';
import { GpuTuning } from './gpu-table.ts';

export const TuneReport = z.object({
  type: z.literal('tune'),
  /** ISO 8601, in UTC. */
  date: z.iso.datetime(),
  machine: Machine,
  /** The CPU's kernel, as in `pickaxe devices`; absent where the CPU was not tuned or has none. */
  kernel: z.string().exactOptional(),
  /** Present where the CPU was tuned, like `kernels`. */
  threads: z.int().positive().exactOptional(),
  kernels: z.array(KernelRow).exactOptional(),
  gpus: z.array(GpuTuning),
});
export type TuneReport = Readonly<z.infer<typeof TuneReport>>;
