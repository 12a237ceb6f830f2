/** What tuning measured on a GPU, as `pickaxe bench --tune` prints it. */

import { z } from 'zod';
import type { GpuInfo } from '../engine/gpu/gpu-engine.ts';
import { nameOf, SHADER_NAMES } from '../engine/gpu/variants.ts';
import { formatHashrate, formatPercent } from '../report/units.ts';
import { formatMilliseconds } from './bench-table.ts';

const VariantRow = z.object({
  /** Like `wgsl 128×16`. */
  name: z.string(),
  shader: z.enum(SHADER_NAMES),
  workgroupSize: z.int().positive(),
  noncesPerInvocation: z.int().positive(),
  chosen: z.boolean(),
  /** The rate with two dispatches in flight; absent where the variant cannot be used. */
  hashesPerSecond: z.number().exactOptional(),
  /** Why it cannot be used. */
  why: z.string().exactOptional(),
});

const BatchRow = z.object({
  /** How long one dispatch takes. */
  batchSeconds: z.number().positive(),
  chosen: z.boolean(),
  hashesPerSecond: z.number(),
  /** The rate less what is lost when work becomes stale. */
  worthHashesPerSecond: z.number(),
  /** Part of a processor's core that feeding the GPU keeps busy. */
  busyRatio: z.number(),
});

/** What `pickaxe bench --tune --json` says of a GPU. */
export const GpuTuning = z.object({
  name: z.string(),
  model: z.string(),
  driver: z.string(),
  /** What is used and why, and where that is so, why it cannot be remembered. */
  why: z.string(),
  /** Variants of the kernel, fastest first. */
  variants: z.array(VariantRow),
  /** Lengths of a batch with the chosen variant, shortest first. */
  batches: z.array(BatchRow),
});
export type GpuTuning = Readonly<z.infer<typeof GpuTuning>>;

export function gpuTuning(name: string, { model, gpu, why, tuning }: GpuInfo): GpuTuning {
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
