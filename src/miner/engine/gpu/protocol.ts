/** The messages between the parent and a GPU's child process, over Node.js's IPC channel. Both sides check them. */

import { z } from 'zod';
import { COUNTERS, countersAt, lanesAt, PAGES, STEPS } from '../../../protocol/chain/nonce.ts';
import { DEVICE_FAULTS, TELEMETRY_FIELDS, type TelemetryField } from '../device.ts';
import { tuningLimitsShape, tuningShape, variantShape } from './tuning.ts';

const u64 = z.bigint().min(0n).max(0xffff_ffff_ffff_ffffn);
const words = (count: number) =>
  z.custom<Uint32Array>((value) => value instanceof Uint32Array && value.length === count, `expected ${count} words`);
const below = (limit: number) =>
  z
    .int()
    .min(0)
    .max(limit - 1);

const range = z
  .object({
    lane: below(lanesAt(STEPS[2])),
    step: z.int().refine((step) => STEPS.some((each) => each === step), 'a step is 1, 256 or 65,536'),
    page: below(PAGES),
    pages: z.int().min(1).max(PAGES),
    counter: below(COUNTERS),
    counters: z.int().min(1).max(COUNTERS),
  })
  .refine(({ lane, step }) => lane < lanesAt(step), 'lanes end at 2^16 · step')
  .refine(({ page, pages }) => page + pages <= PAGES, 'pages end at 2^16')
  .refine(({ counter, counters, step }) => counter + counters <= countersAt(step), 'counters end at 2^32 ÷ step');

const milliseconds = z.number().positive();

const open = z.object({
  type: z.literal('open'),
  /** `GpuOptions` in gpu-engine.ts describes these options. */
  adapter: z.string().optional(),
  softwareGpu: z.boolean(),
  batchMs: milliseconds.min(2).optional(),
  variant: variantShape.optional(),
  cacheDirectory: z.string().optional(),
  tuneAgain: z.boolean(),
  minesAtOnce: z.boolean(),
  hurried: z.boolean(),
  likely: variantShape.optional(),
  tuningLimits: tuningLimitsShape,
  /** Variants that must not be tried, because the device was lost while they ran. */
  skip: z.array(z.string()),
  card: z.object({ vendor: z.enum(['nvidia', 'amd', 'intel']).optional(), bus: z.string().exactOptional() }),
  /** Time between pulses. */
  pulseMs: milliseconds,
});
export type OpenMessage = z.infer<typeof open>;

const reading = z.number().exactOptional();
const telemetryShape = z.object(
  Object.fromEntries(TELEMETRY_FIELDS.map((field) => [field, reading])) as Record<TelemetryField, typeof reading>,
);

export const toChild = z.discriminatedUnion('type', [
  open,
  /** Answered by one `listed`. */
  z.object({ type: z.literal('list') }),
  /** Begins a search; the parent chooses its number. */
  z.object({ type: z.literal('search'), search: z.int(), midstate: words(8), tail: words(16), target: words(8) }),
  z.object({ type: z.literal('range'), search: z.int(), range }),
  /** Stops a search. Answered by `ended`, after the report of its last dispatch. */
  z.object({ type: z.literal('stop'), search: z.int() }),
]);
export type ToChild = z.infer<typeof toChild>;

const adapter = z.object({
  /** Dawn's name for the adapter. */
  model: z.string(),
  /** `vulkan`, `metal` or `d3d12`. */
  backend: z.string(),
  /** Absent when Dawn gives another adapter for this name, or when the adapter could not be opened. */
  info: z
    .object({
      /** Maker in lower case: `nvidia`, `amd`, `intel` …; `mesa` for Mesa's software renderers. */
      vendor: z.string(),
      /** Name, and version if the driver reports it. */
      driver: z.string(),
      /** Whether it is a software renderer on the CPU: llvmpipe, SwiftShader, WARP. */
      software: z.boolean(),
    })
    .optional(),
  fault: z.string().optional(),
});
export type Adapter = z.infer<typeof adapter>;

export const toParent = z.discriminatedUnion('type', [
  /** Sent while opening takes long: the present step, and its finished fraction, 0 to 1. */
  z.object({ type: z.literal('progress'), what: z.string(), done: z.number() }),
  /**
   * Sent with a variant before it runs for tuning, and without one when it has run. If the device is lost in between,
   * later openings skip the variant.
   */
  z.object({ type: z.literal('trying'), variant: z.string().optional() }),
  z.object({
    type: z.literal('opened'),
    model: z.string(),
    driver: z.string(),
    tuning: tuningShape,
    /** For people: why this variant is used. */
    why: z.string(),
    /** For people: the source of the sensors' readings, or why there is none. */
    sensors: z.string(),
  }),
  /**
   * Sent when all variants have been measured while the likely one mined. From now on the variant of this tuning mines.
   */
  z.object({ type: z.literal('tuned'), tuning: tuningShape, why: z.string() }),
  /** A sign of life at fixed intervals while the device is open, with any new readings of sensors. */
  z.object({ type: z.literal('pulse'), telemetry: telemetryShape.optional() }),
  z.object({ type: z.literal('listed'), adapters: z.array(adapter) }),
  z.object({
    type: z.literal('report'),
    search: z.int(),
    searched: range,
    /** When this range's first dispatch was submitted, on the system clock's `monotonicMs`. */
    beganMs: z.number(),
    candidates: z.array(u64).readonly(),
  }),
  z.object({ type: z.literal('ended'), search: z.int() }),
  /** The child's last message. */
  z.object({ type: z.literal('failed'), fault: z.enum(DEVICE_FAULTS), message: z.string() }),
]);
export type ToParent = z.infer<typeof toParent>;
