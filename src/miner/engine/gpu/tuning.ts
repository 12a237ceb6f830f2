/** A tuning: the measurements of a GPU, and the variant of the kernel and the batch length that were the best. */

import { z } from 'zod';

/* The variants of the kernel. Driver and chip decide which is fastest: see child/autotune.ts. */

/** Files in shaders/, by their names for people. */
export const SHADERS = {
  wgsl: 'scan.wgsl',
  'wgsl-uniform-rotates': 'scan-uniform-rotates.wgsl',
  'wgsl-added-zeros': 'scan-added-zeros.wgsl',
  'wgsl-multiplied-adds': 'scan-multiplied-adds.wgsl',
} as const;
export type ShaderName = keyof typeof SHADERS;

export const SHADER_NAMES = Object.keys(SHADERS) as ShaderName[];

export const variantShape = z.object({
  shader: z.enum(SHADER_NAMES),
  /** Invocations in a workgroup. */
  workgroupSize: z.int().min(64).max(256),
  /** Counters that an invocation tries, one after the other. */
  trips: z.int().min(8).max(32),
});
export type Variant = Readonly<z.infer<typeof variantShape>>;

/** 256 is WebGPU's guaranteed maximum; below 64, AMD's waves of 64 lanes would not be full. */
const WORKGROUP_SIZES = [64, 128, 256];
/** Below 8, the work before the loop costs too much; above 32, the chip is half empty at a dispatch's end. */
const TRIPS = [8, 16, 32];

export const VARIANTS: readonly Variant[] = SHADER_NAMES.flatMap((shader) =>
  WORKGROUP_SIZES.flatMap((workgroupSize) => TRIPS.map((trips) => ({ shader, workgroupSize, trips }))),
);

/** Whether it is the shader's middle variant, by which shaders are compared. */
export const isTypical = ({ workgroupSize, trips }: Variant): boolean => workgroupSize === 128 && trips === 16;

/** @returns counters of a workgroup. A dispatch has whole workgroups */
export function workgroupCounters({ workgroupSize, trips }: Variant): number {
  return workgroupSize * trips;
}

/** @returns `wgsl 128×16` */
export function nameOf({ shader, workgroupSize, trips }: Variant): string {
  return `${shader} ${workgroupSize}×${trips}`;
}

const rate = z.number().positive();

const variantRow = z.object({
  variant: variantShape,
  /** H/s with two dispatches in flight; absent for an unusable variant. */
  hashesPerSecond: rate.optional(),
  fault: z.string().optional(),
});
export type VariantRow = Readonly<z.infer<typeof variantRow>>;

/** The fault of a variant that ran when the GPU was lost. The loss may have had another cause. */
export const LOST_WITH_IT = 'the GPU was lost when this variant was tried';

const batchRow = z.object({
  batchMs: rate,
  /** H/s with two dispatches in flight. */
  hashesPerSecond: rate,
  /** H/s without the hashes that New Cuts make worthless. */
  score: rate,
  /** Fraction of a core that the child's JavaScript used. */
  busy: z.number().min(0),
});
export type BatchRow = Readonly<z.infer<typeof batchRow>>;

export const tuningShape = z.object({
  variant: variantShape,
  batchMs: rate,
  hashesPerSecond: rate,
  /** Fastest first, then one variant of each hopelessly slow shader, then the unusable variants. */
  variants: z.array(variantRow).min(1),
  /** Shortest first; empty when the user chose the length. */
  batches: z.array(batchRow),
});
export type Tuning = Readonly<z.infer<typeof tuningShape>>;

export const tuningLimitsShape = z.object({
  variants: z.array(variantShape).min(1).readonly(),
  /** Time that an idle GPU gets to raise its clocks. */
  warmUpMs: z.number().min(0),
  /**
   * Length of a turn, in which one variant is measured. The best turn counts, because other programs can only slow a
   * turn down.
   */
  turnMs: rate,
  /** Length of a turn in which one batch length is measured. */
  batchTurnMs: rate,
});
export type TuningLimits = Readonly<z.infer<typeof tuningLimitsShape>>;

export const TUNING_LIMITS: TuningLimits = { variants: VARIANTS, warmUpMs: 500, turnMs: 48, batchTurnMs: 160 };

/**
 * @param wishedMs the batch length that the user chose
 * @returns for people: the chosen variant, the number of variants, and the variants with which the GPU was lost
 */
export function whyTuning({ variant, batchMs, variants }: Tuning, wishedMs?: number): string {
  const rates = variants.flatMap(({ hashesPerSecond }) => hashesPerSecond ?? []);
  const batches = wishedMs === undefined ? `batches of ${batchMs} ms` : `batches of ${wishedMs} ms as asked for`;
  const lost = variants.filter(({ fault }) => fault === LOST_WITH_IT).map((row) => nameOf(row.variant));
  const without =
    lost.length === 0 ? '' : `; the GPU was lost with ${lost.join(', ')}, which pickaxe bench --tune tries again`;
  return `${nameOf(variant)}, ${batches}; ${rankOf(rates)}${without}`;
}

/** `fastest of 19 variants that run here` */
function rankOf(rates: readonly number[]): string {
  if (rates.length === 1) return 'the only variant that runs';
  return `fastest of ${rates.length} variants that run here`;
}
