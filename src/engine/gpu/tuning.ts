/** What was measured of a GPU: how it mines best, and how that was found. */

import { z } from 'zod';
import { nameOf, VARIANTS, variantShape } from './variants.ts';

const rate = z.number().positive();

const variantRow = z.object({
  variant: variantShape,
  /** H/s, two dispatches in flight; left out of a form that cannot be used. */
  hashesPerSecond: rate.optional(),
  /** Why it cannot be used. */
  fault: z.string().optional(),
});
export type VariantRow = Readonly<z.infer<typeof variantRow>>;

const batchRow = z.object({
  /** What a dispatch takes, in milliseconds. */
  batchMs: rate,
  /** H/s in the same way. */
  hashesPerSecond: rate,
  /** H/s that are worth something: less what a New Cut makes worthless. */
  score: rate,
  /** Part of a processor's core that the child's JavaScript took meanwhile. */
  busy: z.number().min(0),
});
export type BatchRow = Readonly<z.infer<typeof batchRow>>;

export const tuningShape = z.object({
  variant: variantShape,
  batchMs: rate,
  /** H/s in the end. */
  hashesPerSecond: rate,
  /** All forms of the kernel, fastest first. */
  variants: z.array(variantRow).min(1),
  /** Lengths of a batch, shortest first; none where the length was settled. */
  batches: z.array(batchRow),
});
export type Tuning = Readonly<z.infer<typeof tuningShape>>;

export const tuningLimitsShape = z.object({
  /** To choose from. */
  forms: z.array(variantShape).min(1).readonly(),
  /** A GPU that was idle takes this long to raise its clocks. */
  warmUpMs: z.number().min(0),
  /**
   * A turn of one form, two dispatches in flight; its best turn counts, since whatever else the machine does can only take.
   */
  turnMs: rate,
  /** How long each length of a batch is tried, in each of its turns. */
  batchTurnMs: rate,
});
export type TuningLimits = Readonly<z.infer<typeof tuningLimitsShape>>;

/** How much is measured, in milliseconds. */
export const TUNING_LIMITS: TuningLimits = { forms: VARIANTS, warmUpMs: 500, turnMs: 48, batchTurnMs: 160 };

/**
 * For people: what was chosen, of how many, and how much it matters.
 * @param wishedMs the length of a batch that is used instead of the best
 */
export function whyTuning({ variant, batchMs, variants }: Tuning, wishedMs?: number): string {
  const rates = variants.flatMap(({ hashesPerSecond }) => hashesPerSecond ?? []);
  const gain = (100 * (Math.max(...rates) / Math.min(...rates) - 1)).toFixed(0);
  const batches = wishedMs === undefined ? `batches of ${batchMs} ms` : `batches of ${wishedMs} ms as asked for`;
  return `${nameOf(variant)}, ${batches}; the best of ${rates.length} forms, ${gain} % apart`;
}
