/** What `pickaxe devices --json` prints. */

import { z } from 'zod';
import { KernelRow } from '../app/kernel-rows.ts';
import { ORIGINS } from '../engine/cpu/kernels/addon-file.ts';
import { Machine } from '../system/machine.ts';

const Cpu = z.object({
  name: z.literal('cpu'),
  model: z.string(),
  /** The one that is used, or several with + between them where kinds of cores differ; absent where none can be. */
  kernel: z.string().exactOptional(),
  /** Where the native kernels come from. */
  native: z.enum([...ORIGINS, 'none']),
  kernels: z.array(KernelRow),
  threads: z.int().positive(),
  /** Why so many threads. */
  why: z.string(),
  /** What its sensors tell, or why they tell nothing. */
  sensors: z.string(),
});

const Gpu = z.object({
  /** `gpu0` … */
  name: z.string(),
  model: z.string(),
  /** `vulkan`, `d3d12` or `metal`. */
  backend: z.string(),
  /** The maker: `nvidia`, `amd`, `intel` …, or `unknown`. */
  vendor: z.string(),
  driver: z.string(),
  /** Whether it is software on the CPU. */
  software: z.boolean(),
  /** Like `0000:65:00.0`; absent where it is not known. */
  bus: z.string().exactOptional(),
  /** The variables that show this GPU alone to its process; absent where none are needed. */
  environment: z.record(z.string(), z.string()).exactOptional(),
  usable: z.boolean(),
  why: z.string(),
});

export const DevicesReport = z.object({
  machine: Machine,
  cpu: Cpu,
  gpus: z.array(Gpu),
  /** Why there is no GPU; absent where there is one. */
  noGpu: z.string().exactOptional(),
});
export type DevicesReport = Readonly<z.infer<typeof DevicesReport>>;
