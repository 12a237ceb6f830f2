/**
 * The messages between the parent and a GPU's child process: structured clones over Node's IPC channel. Both ends check
 * what they receive: a message that fits no shape is a fault of the other end.
 */

import { z } from 'zod';
import { COUNTERS, LANES, PAGES } from '../../chain/nonce.ts';
import { DEVICE_FAULTS } from '../device.ts';
import { TELEMETRY_FIELDS, type TelemetryField } from '../telemetry.ts';
import { tuningLimitsShape, tuningShape } from './tuning.ts';
import { variantShape } from './variants.ts';

const u64 = z.bigint().min(0n).max(0xffff_ffff_ffff_ffffn);
const words = (count: number) =>
  z.custom<Uint32Array>((value) => value instanceof Uint32Array && value.length === count, `expected ${count} words`);
const below = (limit: number) =>
  z
    .int()
    .min(0)
    .max(limit - 1);

/** Counters of one lane and page: a GPU's ranges are no other. */
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
  /** Dawn's name of the adapter. The default is the fastest one in Dawn's opinion. */
  adapter: z.string().optional(),
  softwareGpu: z.boolean(),
  /** How long a dispatch should take. The default is what tuning found best. */
  batchMs: milliseconds.min(2).optional(),
  /** The one variant of the kernel to use. The default is the fastest one. */
  variant: variantShape.optional(),
  /** Where tunings are remembered. */
  cacheDirectory: z.string().optional(),
  /** Measure whatever is remembered. */
  tuneAgain: z.boolean(),
  /** How much is measured. */
  tuningLimits: tuningLimitsShape,
  /** Names of variants of the kernel that cost the device when they were tried. */
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
  /** Asks for the adapters; answered once, by `listed`. */
  z.object({ type: z.literal('list') }),
  /** Begins a search, under a number of the parent's. */
  z.object({ type: z.literal('search'), search: z.int(), midstate: words(8), tail: words(16), target: words(8) }),
  /** Another range to search. */
  z.object({ type: z.literal('range'), search: z.int(), range: strip }),
  /** Starts nothing more of a search; answered by `ended` once its last dispatch is reported. */
  z.object({ type: z.literal('stop'), search: z.int() }),
]);
export type ToChild = z.infer<typeof toChild>;

const adapter = z.object({
  /** Dawn's name of it. */
  model: z.string(),
  /** `vulkan`, `metal` or `d3d12`. */
  backend: z.string(),
  /** What it says once it is opened; absent where its name gives another adapter, or where it could not be opened. */
  info: z
    .object({
      /** Maker of the GPU, in lower case: `nvidia`, `amd`, `intel` …; `mesa` for Mesa's software. */
      vendor: z.string(),
      /** Name of the driver, with its version if the driver tells it. */
      driver: z.string(),
      /** Whether it is software on the CPU: llvmpipe, SwiftShader, WARP. */
      software: z.boolean(),
    })
    .optional(),
  /** Why it could not be opened. */
  fault: z.string().optional(),
});
export type Adapter = z.infer<typeof adapter>;

export const toParent = z.discriminatedUnion('type', [
  /** While opening takes long: what the child does, and the part of it that is done, 0 to 1. */
  z.object({ type: z.literal('progress'), what: z.string(), done: z.number() }),
  /** While tuning: the variant of the kernel that runs next. It is to blame if this is the child's last message. */
  z.object({ type: z.literal('trying'), variant: z.string() }),
  z.object({
    type: z.literal('opened'),
    model: z.string(),
    /** Name of the driver, with its version if the driver tells it. */
    driver: z.string(),
    tuning: tuningShape,
    /** For people: why this variant of the kernel is used. */
    why: z.string(),
    /** For people: where readings come from, or why there are none. */
    sensors: z.string(),
  }),
  /** A sign of life, at fixed intervals once the device is open; with the sensors' readings when there are new ones. */
  z.object({ type: z.literal('pulse'), telemetry: telemetryShape.optional() }),
  z.object({ type: z.literal('listed'), adapters: z.array(adapter) }),
  z.object({
    type: z.literal('report'),
    search: z.int(),
    searched: strip,
    /** When its first dispatch was submitted. */
    beganMs: z.number(),
    candidates: z.array(u64).readonly(),
  }),
  z.object({ type: z.literal('ended'), search: z.int() }),
  /** The child's last message. */
  z.object({ type: z.literal('failed'), fault: z.enum(DEVICE_FAULTS), message: z.string() }),
]);
export type ToParent = z.infer<typeof toParent>;
