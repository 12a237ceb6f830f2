/**
 * The messages between the parent and a GPU's child process, sent as structured clones over Node.js's IPC channel. Both
 * sides check what they receive.
 */

import { z } from 'zod';
import { COUNTERS, LANES, PAGES } from '../../chain/nonce.ts';
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

/** A range of one page. All ranges of a GPU are such strips. */
const strip = z
  .object({
    lane: below(LANES),
    page: below(PAGES),
    pages: z.int().min(1).max(1),
    counter: below(COUNTERS),
    counters: z.int().min(1).max(COUNTERS),
  })
  .refine(({ counter, counters }) => counter + counters <= COUNTERS, 'counters end at 2^32');

const milliseconds = z.number().positive();

const open = z.object({
  type: z.literal('open'),
  /** Dawn's name for the adapter. The default is the adapter that Dawn considers the fastest. */
  adapter: z.string().optional(),
  softwareGpu: z.boolean(),
  /** Time that a dispatch should take. The default is the best one that tuning found. */
  batchMs: milliseconds.min(2).optional(),
  /** The variant of the kernel to use. The default is the fastest one. */
  variant: variantShape.optional(),
  /** Folder in which tunings are remembered. */
  cacheDirectory: z.string().optional(),
  /** Whether to measure even when a tuning is remembered. */
  tuneAgain: z.boolean(),
  /** The variants to measure, and the times of the measurement. */
  tuningLimits: tuningLimitsShape,
  /** Names of variants that must not be tried, because the device was lost while they ran. */
  skip: z.array(z.string()),
  /** The card whose sensors are read. */
  card: z.object({ vendor: z.enum(['nvidia', 'amd', 'intel']).optional(), bus: z.string().exactOptional() }),
  /** Time between the child's signs of life. */
  pulseMs: milliseconds,
});
export type OpenMessage = z.infer<typeof open>;

const reading = z.number().exactOptional();
const telemetryShape = z.object(
  Object.fromEntries(TELEMETRY_FIELDS.map((field) => [field, reading])) as Record<TelemetryField, typeof reading>,
);

export const toChild = z.discriminatedUnion('type', [
  open,
  /** Asks for the adapters. The answer is one `listed`. */
  z.object({ type: z.literal('list') }),
  /** Begins a search with a number that the parent chooses. */
  z.object({ type: z.literal('search'), search: z.int(), midstate: words(8), tail: words(16), target: words(8) }),
  /** Adds a range to a search. */
  z.object({ type: z.literal('range'), search: z.int(), range: strip }),
  /** Stops a search. The answer is `ended`, after the report of its last dispatch. */
  z.object({ type: z.literal('stop'), search: z.int() }),
]);
export type ToChild = z.infer<typeof toChild>;

const adapter = z.object({
  /** Dawn's name for the adapter. */
  model: z.string(),
  /** `vulkan`, `metal` or `d3d12`. */
  backend: z.string(),
  /** Known once the adapter is open; absent when its name gives another adapter, or when it could not be opened. */
  info: z
    .object({
      /** The maker of the GPU, in lower case: `nvidia`, `amd`, `intel` …; `mesa` for Mesa's software renderers. */
      vendor: z.string(),
      /** The name of the driver, with its version if the driver reports it. */
      driver: z.string(),
      /** Whether the adapter is a software renderer on the CPU: llvmpipe, SwiftShader, WARP. */
      software: z.boolean(),
    })
    .optional(),
  /** Why the adapter could not be opened. */
  fault: z.string().optional(),
});
export type Adapter = z.infer<typeof adapter>;

export const toParent = z.discriminatedUnion('type', [
  /** Sent while opening takes long: what the child is doing, and the fraction of it that is done, 0 to 1. */
  z.object({ type: z.literal('progress'), what: z.string(), done: z.number() }),
  /**
   * Sent while tuning, before a variant of the kernel runs. If it is the child's last message, that variant crashed it.
   */
  z.object({ type: z.literal('trying'), variant: z.string() }),
  z.object({
    type: z.literal('opened'),
    model: z.string(),
    /** Name of the driver, with its version if the driver reports it. */
    driver: z.string(),
    tuning: tuningShape,
    /** For people: why this variant of the kernel is used. */
    why: z.string(),
    /** For people: where the sensors' readings come from, or why there are none. */
    sensors: z.string(),
  }),
  /**
   * A sign of life, sent at fixed intervals once the device is open, with new readings of the sensors if there are any.
   */
  z.object({ type: z.literal('pulse'), telemetry: telemetryShape.optional() }),
  z.object({ type: z.literal('listed'), adapters: z.array(adapter) }),
  z.object({
    type: z.literal('report'),
    search: z.int(),
    searched: strip,
    /** When the first dispatch of this range was submitted, on the system clock's `monotonicMs`. */
    beganMs: z.number(),
    candidates: z.array(u64).readonly(),
  }),
  z.object({ type: z.literal('ended'), search: z.int() }),
  /** The child's last message. */
  z.object({ type: z.literal('failed'), fault: z.enum(DEVICE_FAULTS), message: z.string() }),
]);
export type ToParent = z.infer<typeof toParent>;
