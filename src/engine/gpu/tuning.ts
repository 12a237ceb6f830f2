/**
 * A tuning: the measurements of a GPU, and the variant of the kernel and the batch length that are the best by them.
 */

import { z } from 'zod';

/* The variants of the GPU kernel. Which one is fastest depends on the driver and the chip: see child/tune.ts. */

/** The files in shaders/, by the shaders' names for people. */
export const SHADERS = {
  wgsl: 'scan.wgsl',
  'wgsl-uniform-rotates': 'scan-uniform-rotates.wgsl',
  'wgsl-multiplied-adds': 'scan-multiplied-adds.wgsl',
} as const;
export type ShaderName = keyof typeof SHADERS;

export const SHADER_NAMES = Object.keys(SHADERS) as ShaderName[];

export const variantShape = z.object({
  shader: z.enum(SHADER_NAMES),
  /** Number of invocations in a workgroup. */
  workgroupSize: z.int().min(64).max(256),
  /** Number of counters that an invocation tries, one after the other. */
  trips: z.int().min(8).max(32),
});
export type Variant = Readonly<z.infer<typeof variantShape>>;

/** WebGPU guarantees up to 256; with fewer than 64, AMD's waves of 64 lanes would not be full. */
const WORKGROUP_SIZES = [64, 128, 256];
/**
 * With fewer than 8, the work before the loop costs too much; with more than 32, the chip is half empty at a dispatch's
 * end.
 */
const TRIPS = [8, 16, 32];

export const VARIANTS: readonly Variant[] = SHADER_NAMES.flatMap((shader) =>
  WORKGROUP_SIZES.flatMap((workgroupSize) => TRIPS.map((trips) => ({ shader, workgroupSize, trips }))),
);

/** Whether this is its shader's middle variant, with which shaders are compared. */
export const isTypical = ({ workgroupSize, trips }: Variant): boolean => workgroupSize === 128 && trips === 16;

/** @returns the number of counters that a workgroup tries. A dispatch has whole workgroups */
export function workgroupCounters({ workgroupSize, trips }: Variant): number {
  return workgroupSize * trips;
}

/** @returns a name such as `wgsl 128×16` */
export function nameOf({ shader, workgroupSize, trips }: Variant): string {
  return `${shader} ${workgroupSize}×${trips}`;
}

const rate = z.number().positive();

const variantRow = z.object({
  variant: variantShape,
  /** H/s with two dispatches in flight; absent when the variant cannot be used. */
  hashesPerSecond: rate.optional(),
  /** Why the variant cannot be used. */
  fault: z.string().optional(),
});
export type VariantRow = Readonly<z.infer<typeof variantRow>>;

const batchRow = z.object({
  /** Time that a dispatch takes. */
  batchMs: rate,
  /** H/s with two dispatches in flight. */
  hashesPerSecond: rate,
  /** H/s, minus what New Cuts make worthless. */
  score: rate,
  /** Fraction of a processor core that the child's JavaScript used, 0 to 1. */
  busy: z.number().min(0),
});
export type BatchRow = Readonly<z.infer<typeof batchRow>>;

export const tuningShape = z.object({
  variant: variantShape,
  batchMs: rate,
  /** H/s with this variant and this length of a batch. */
  hashesPerSecond: rate,
  /** All variants of the kernel, fastest first. */
  variants: z.array(variantRow).min(1),
  /** The measured lengths of a batch, shortest first; empty when the user chose the length. */
  batches: z.array(batchRow),
});
export type Tuning = Readonly<z.infer<typeof tuningShape>>;

export const tuningLimitsShape = z.object({
  /** The variants to choose from. */
  variants: z.array(variantShape).min(1).readonly(),
  /** Time that an idle GPU needs to raise its clocks. */
  warmUpMs: z.number().min(0),
  /**
   * Length of a turn of one variant. A variant's best turn counts, because other programs can only slow a turn down.
   */
  turnMs: rate,
  /** Length of a turn of one batch length. */
  batchTurnMs: rate,
});
export type TuningLimits = Readonly<z.infer<typeof tuningLimitsShape>>;

export const TUNING_LIMITS: TuningLimits = { variants: VARIANTS, warmUpMs: 500, turnMs: 48, batchTurnMs: 160 };

/**
 * @param wishedMs the batch length that the user chose; undefined when the best one is used
 * @returns for people: which variant was chosen, and from how many
 */
export function whyTuning({ variant, batchMs, variants }: Tuning, wishedMs?: number): string {
  const rates = variants.flatMap(({ hashesPerSecond }) => hashesPerSecond ?? []);
  const batches = wishedMs === undefined ? `batches of ${batchMs} ms` : `batches of ${wishedMs} ms as asked for`;
  return `${nameOf(variant)}, ${batches}; ${rankOf(rates)}`;
}

/** `fastest of 19 variants that run here` */
function rankOf(rates: readonly number[]): string {
  if (rates.length === 1) return 'the only variant that runs';
  return `fastest of ${rates.length} variants that run here`;
}
