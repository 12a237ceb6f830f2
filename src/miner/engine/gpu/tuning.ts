/** A tuning: a variant of the kernel and a length of batches for a GPU, with what was measured on the GPU. */

import { z } from 'zod';

/* The variants of the kernel. The driver and the chip decide which one is the fastest: see child/autotune.ts. */

/** Names of the shaders' files in shaders/. The keys are the names that people see. */
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
  /** Number of invocations in a workgroup. */
  workgroupSize: z.int().min(64).max(256),
  /** Number of counters that an invocation tries, one after the other. */
  trips: z.int().min(8).max(32),
});
export type Variant = Readonly<z.infer<typeof variantShape>>;

/**
 * Workgroup sizes. 256 is the maximum that WebGPU guarantees. With a size below 64, AMD's waves of 64 invocations would
 * not be full.
 */
const WORKGROUP_SIZES = [64, 128, 256];
/**
 * Numbers of trips of the shader's loop. With fewer than 8, the work before the loop costs too much. With more than 32,
 * the chip is half empty at the end of a dispatch.
 */
const TRIPS = [8, 16, 32];

export const VARIANTS: readonly Variant[] = SHADER_NAMES.flatMap((shader) =>
  WORKGROUP_SIZES.flatMap((workgroupSize) => TRIPS.map((trips) => ({ shader, workgroupSize, trips }))),
);

/**
 * Whether a variant is the middle variant of its shader. At first only the middle variants are measured, to compare the
 * shaders.
 */
export const isTypical = ({ workgroupSize, trips }: Variant): boolean => workgroupSize === 128 && trips === 16;

/** @returns the number of counters in a workgroup. A dispatch has a whole number of workgroups */
export function workgroupCounters({ workgroupSize, trips }: Variant): number {
  return workgroupSize * trips;
}

/** @returns the variant's name for people, such as `wgsl 128×16` */
export function nameOf({ shader, workgroupSize, trips }: Variant): string {
  return `${shader} ${workgroupSize}×${trips}`;
}

const rate = z.number().positive();

const variantRow = z.object({
  variant: variantShape,
  /** H/s with two batches in flight; absent for an unusable variant. */
  hashesPerSecond: rate.optional(),
  /** For people: why the variant is unusable; absent for a usable variant. */
  fault: z.string().optional(),
});
export type VariantRow = Readonly<z.infer<typeof variantRow>>;

/** The fault of a variant that was being tried when the GPU was lost. The loss may have had another cause. */
export const LOST_WITH_IT = 'the GPU was lost when this variant was tried';

const batchRow = z.object({
  /** Intended length of a batch, in ms. */
  batchMs: rate,
  /** H/s with two batches in flight. */
  hashesPerSecond: rate,
  /** H/s without the hashes that New Cuts make worthless. */
  score: rate,
  /** Fraction of a processor core that the child's JavaScript used. */
  busy: z.number().min(0),
});
export type BatchRow = Readonly<z.infer<typeof batchRow>>;

export const tuningShape = z.object({
  variant: variantShape,
  /**
   * Length of a batch, in ms: the best of `batches`; if there are none, the length that the user chose, or else
   * `LIKELY_BATCH_MS` of child/tuned-scanner.ts.
   */
  batchMs: rate,
  hashesPerSecond: rate,
  /**
   * The usable variants, fastest first, then the typical variant of each shader that is too slow, then the unusable
   * variants. If only the likely variant or the variant that the user asked for was measured, the list has no other
   * variant.
   */
  variants: z.array(variantRow).min(1),
  /** The measured lengths of batches, shortest first; empty when no lengths were measured. */
  batches: z.array(batchRow),
});
export type Tuning = Readonly<z.infer<typeof tuningShape>>;

export const tuningLimitsShape = z.object({
  variants: z.array(variantShape).min(1).readonly(),
  /** Time for which a GPU works before measurements, so that it raises its clocks, in ms. */
  warmUpMs: z.number().min(0),
  /**
   * Length of a turn in which one variant is measured, in ms. The best turn of a variant counts, because other programs
   * can only slow a turn down.
   */
  turnMs: rate,
  /** Length of a turn in which one length of batches is measured, in ms. */
  batchTurnMs: rate,
});
export type TuningLimits = Readonly<z.infer<typeof tuningLimitsShape>>;

export const TUNING_LIMITS: TuningLimits = { variants: VARIANTS, warmUpMs: 500, turnMs: 48, batchTurnMs: 160 };

/**
 * @param wishedMs length of a batch in ms, if the user chose one
 * @returns a text for people: the chosen variant, the length of batches, the number of variants, and the variants with
 *   which the GPU was lost
 */
export function whyTuning({ variant, batchMs, variants }: Tuning, wishedMs?: number): string {
  const rates = variants.flatMap(({ hashesPerSecond }) => hashesPerSecond ?? []);
  const batches = wishedMs === undefined ? `batches of ${batchMs} ms` : `batches of ${wishedMs} ms as asked for`;
  const lost = variants.filter(({ fault }) => fault === LOST_WITH_IT).map((row) => nameOf(row.variant));
  const without =
    lost.length === 0 ? '' : `; the GPU was lost with ${lost.join(', ')}, which pickaxe bench --tune tries again`;
  return `${nameOf(variant)}, ${batches}; ${rankOf(rates)}${without}`;
}

/** @returns a clause such as `fastest of 19 variants that run here` */
function rankOf(rates: readonly number[]): string {
  if (rates.length === 1) return 'the only variant that runs';
  return `fastest of ${rates.length} variants that run here`;
}
