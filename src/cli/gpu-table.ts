/** What tuning measured on a GPU, as `pickaxe bench --tune` prints it. */

import type { GpuInfo } from '../engine/gpu/gpu-engine.ts';
import { nameOf } from '../engine/gpu/variants.ts';
import { formatHashrate, formatPercent } from '../report/units.ts';

/** Its names are part of what wrappers rely on. */
export interface GpuRows {
  readonly name: string;
  readonly model: string;
  /** What is used and why, and where that is so, why it cannot be remembered. */
  readonly why: string;
  /** Variants of the kernel, fastest first. */
  readonly variants: readonly {
    /** Like `wgsl 128×16`. */
    readonly name: string;
    readonly shader: string;
    readonly workgroupSize: number;
    readonly trips: number;
    readonly chosen: boolean;
    /** H/s with two dispatches in flight; absent where the variant cannot be used. */
    readonly hashrate?: number;
    /** Why it cannot be used. */
    readonly why?: string;
  }[];
  /** Lengths of a batch with the chosen variant, shortest first. */
  readonly batches: readonly {
    readonly batchMs: number;
    readonly chosen: boolean;
    readonly hashrate: number;
    /** H/s less what is lost when work becomes stale. */
    readonly worth: number;
    /** The part of a CPU core that feeding the GPU needs. */
    readonly busy: number;
  }[];
}

export function gpuRows(name: string, { model, why, tuning }: GpuInfo): GpuRows {
  const variants = tuning.variants.map(({ variant, hashesPerSecond, fault }) => ({
    name: nameOf(variant),
    ...variant,
    chosen: nameOf(variant) === nameOf(tuning.variant),
    ...(hashesPerSecond !== undefined && { hashrate: hashesPerSecond }),
    ...(fault !== undefined && { why: fault }),
  }));
  const batches = tuning.batches.map(({ batchMs, hashesPerSecond, score, busy }) => ({
    batchMs,
    chosen: batchMs === tuning.batchMs,
    hashrate: hashesPerSecond,
    worth: score,
    busy,
  }));
  return { name, model, why, variants, batches };
}

export function tuningLines({ name, model, why, variants, batches }: GpuRows): string[] {
  const mark = (chosen: boolean) => (chosen ? '*' : '+');
  const best = variants[0].hashrate ?? Number.NaN;
  return [
    `${name}  ${model}`,
    why,
    ...variants.map(({ name, chosen, hashrate, why }) => {
      if (hashrate === undefined) return `- ${name.padEnd(28)} ${why}`;
      return `${mark(chosen)} ${name.padEnd(28)} ${formatHashrate(hashrate).padStart(12)}  ${formatPercent(hashrate / best, 1)}`;
    }),
    'workgroup size × counters an invocation; * is the best',
    ...batches.map(
      ({ batchMs, chosen, hashrate, worth, busy }) =>
        `${mark(chosen)} ${`${batchMs} ms`.padEnd(28)} ${formatHashrate(hashrate).padStart(12)}  worth ${formatHashrate(worth)}, ${formatPercent(busy, 1)} of a core`,
    ),
    'length of a batch (--gpu-batch-ms), * is the best; worth: less what is lost when work becomes stale; of a core: of the processor, to feed the GPU',
  ];
}
