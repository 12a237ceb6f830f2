/**
 * The messages between the parent and a GPU's child process, over Node.js's IPC channel. Both processes check the
 * messages that they receive.
 */

import { z } from 'zod';
import { COUNTERS, countersAt, lanesAt, PAGES, STEPS } from '../../../protocol/chain/nonce.ts';
import { DEVICE_FAULTS, TELEMETRY_FIELDS, type TelemetryField } from '../device.ts';
import { tuningLimitsShape, tuningShape, variantShape } from './tuning.ts';

const u64 = z.bigint().min(0n).max(0xffff_ffff_ffff_ffffn);
/** Named, so that the inferred types of the package also compile with TypeScript before 5.7. */
interface Words extends Uint32Array {}
const words = (count: number) =>
  z.custom<Words>((value) => value instanceof Uint32Array && value.length === count, `expected ${count} words`);

const range = z
  .object({
    lane: z.int().min(0),
    step: z.int().refine((step) => STEPS.some((each) => each === step), 'a step is 1, 256 or 65,536'),
    page: z.int().min(0),
    pages: z.int().min(1).max(PAGES),
    counter: z.int().min(0),
    counters: z.int().min(1).max(COUNTERS),
  })
  .refine(({ lane, step }) => lane < lanesAt(step), 'lanes end at 2^16 · step')
  .refine(({ page, pages }) => page + pages <= PAGES, 'pages end at 2^16')
  .refine(({ counter, counters, step }) => counter + counters <= countersAt(step), 'counters end at 2^32 ÷ step');

const milliseconds = z.number().positive();

const open = z.object({
  type: z.literal('open'),
  /** `GpuOptions` in gpu-engine.ts describes these options, except `skip` and `pulseMs`. */
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
  /** Names of the variants that must not be tried, because the device was lost while they were being tried. */
  skip: z.array(z.string()),
  card: z.object({ vendor: z.enum(['nvidia', 'amd', 'intel']).optional(), bus: z.string().exactOptional() }),
  /** Time between two pulses of the child, in ms. */
  pulseMs: milliseconds,
});
export type OpenMessage = z.infer<typeof open>;

const reading = z.number().exactOptional();
const telemetryShape = z.object(
  Object.fromEntries(TELEMETRY_FIELDS.map((field) => [field, reading])) as Record<TelemetryField, typeof reading>,
);

export const toChild = z.discriminatedUnion('type', [
  open,
  /** Requests the list of adapters. The child answers with `listed`. */
  z.object({ type: z.literal('list') }),
  /** Begins a search with a number that the parent chooses. The three arrays are those of `Puzzle`. */
  z.object({ type: z.literal('search'), search: z.int(), midstate: words(8), tail: words(16), target: words(8) }),
  /** Adds a range to a search. */
  z.object({ type: z.literal('range'), search: z.int(), range }),
  /** Stops a search. The child answers with `ended`, after the last report of the search. */
  z.object({ type: z.literal('stop'), search: z.int() }),
]);
export type ToChild = z.infer<typeof toChild>;

const adapter = z.object({
  /** Dawn's name for the adapter. */
  model: z.string(),
  /** Dawn's backend: `vulkan`, `metal` or `d3d12`. */
  backend: z.string(),
  /** Absent when Dawn chooses another adapter for this name, or when the adapter could not be opened. */
  info: z
    .object({
      /** Name of the maker in lower case, such as `nvidia`, `amd` or `intel`; `mesa` for Mesa's software renderers. */
      vendor: z.string(),
      /** Dawn's description of the driver. With most drivers, it has the name and the version. */
      driver: z.string(),
      /** Whether the adapter is a software renderer, which runs on the CPU: llvmpipe, SwiftShader or WARP. */
      software: z.boolean(),
    })
    .optional(),
  /** For people: why the adapter could not be opened. */
  fault: z.string().optional(),
});
export type Adapter = z.infer<typeof adapter>;

export const toParent = z.discriminatedUnion('type', [
  /** Sent while opening takes long: the current step for people, and the finished fraction of this step, 0 to 1. */
  z.object({ type: z.literal('progress'), what: z.string(), done: z.number() }),
  /**
   * Sent with the name of a variant before the variant is checked or measured, and without a name after that. If the
   * device is lost in between, later openings skip the variant.
   */
  z.object({ type: z.literal('trying'), variant: z.string().optional() }),
  /** The answer to `open`. */
  z.object({
    type: z.literal('opened'),
    model: z.string(),
    driver: z.string(),
    tuning: tuningShape,
    /** For people: why this variant is used. */
    why: z.string(),
    /** For people: the source of the sensors' readings, or why there are none. */
    sensors: z.string(),
  }),
  /**
   * Sent when the variants were measured while the GPU mined with the likely variant. From then on, the GPU mines with
   * the variant of this tuning.
   */
  z.object({ type: z.literal('tuned'), tuning: tuningShape, why: z.string() }),
  /**
   * Sent at fixed intervals while the device is open, so that the parent notices a process that hangs. The message has
   * the sensors' readings if there are new readings.
   */
  z.object({ type: z.literal('pulse'), telemetry: telemetryShape.optional() }),
  /** The answer to `list`. */
  z.object({ type: z.literal('listed'), adapters: z.array(adapter) }),
  /** Sent when a part of a search is done. */
  z.object({
    type: z.literal('report'),
    search: z.int(),
    searched: range,
    /** Time at which the first batch of this range was submitted, in ms on the system clock's `monotonicMs`. */
    beganMs: z.number(),
    candidates: z.array(u64).readonly(),
  }),
  /** The answer to `stop`, and the last message about the search. */
  z.object({ type: z.literal('ended'), search: z.int() }),
  /** Sent when the device or the child has failed. It is the child's last message. */
  z.object({ type: z.literal('failed'), fault: z.enum(DEVICE_FAULTS), message: z.string() }),
]);
export type ToParent = z.infer<typeof toParent>;
