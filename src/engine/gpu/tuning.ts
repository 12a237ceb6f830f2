/** What was measured on a GPU: how it mines best, and how that was found. */

import { z } from 'zod';
import { nameOf, VARIANTS, variantShape } from './variants.ts';

const rate = z.number().positive();

const variantRow = z.object({
  variant: variantShape,
  /** H/s with two dispatches in flight; absent where the variant cannot be used. */
  hashesPerSecond: rate.optional(),
  /** Why the variant cannot be used. */
  fault: z.string().optional(),
});
export type VariantRow = Readonly<z.infer<typeof variantRow>>;

const batchRow = z.object({
  /** What a dispatch takes, in milliseconds. */
  batchMs: rate,
  /** H/s with two dispatches in flight. */
  hashesPerSecond: rate,
  /** H/s, less what a New Cut makes worthless. */
  score: rate,
  /** Part of a processor's core that the child's JavaScript took. */
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
  /** Lengths of a batch, shortest first; empty where the user chose the length. */
  batches: z.array(batchRow),
});
export type Tuning = Readonly<z.infer<typeof tuningShape>>;

export const tuningLimitsShape = z.object({
  /** The variants to choose from. */
  variants: z.array(variantShape).min(1).readonly(),
  /** How long a GPU that was idle takes to raise its clocks, in ms. */
  warmUpMs: z.number().min(0),
  /**
   * How long a turn of one variant is, with two dispatches in flight, in ms. A variant's best turn counts, since whatever
   * else the machine does can only slow it down.
   */
  turnMs: rate,
  /** How long a turn of one length of a batch is, in ms. */
  batchTurnMs: rate,
});
export type TuningLimits = Readonly<z.infer<typeof tuningLimitsShape>>;

export const TUNING_LIMITS: TuningLimits = { variants: VARIANTS, warmUpMs: 500, turnMs: 48, batchTurnMs: 160 };

/**
 * For people: what was chosen, among how many variants, and how much that matters.
 * @param wishedMs the length of a batch that is used instead of the best
 */
export function whyTuning({ variant, batchMs, variants }: Tuning, wishedMs?: number): string {
  const rates = variants.flatMap(({ hashesPerSecond }) => hashesPerSecond ?? []);
  const gain = Math.max(...rates) / Math.min(...rates);
  const batches = wishedMs === undefined ? `batches of ${batchMs} ms` : `batches of ${wishedMs} ms as asked for`;
  return `${nameOf(variant)}, ${batches}; the fastest of ${rates.length} variants (${gain.toFixed(gain < 10 ? 1 : 0)} times the slowest)`;
}
