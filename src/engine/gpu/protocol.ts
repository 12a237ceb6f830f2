/**
 * What the parent and a GPU's child process say to each other, as structured clones over Node's IPC channel. Both ends
 * check what arrives at their door: a message that fits no shape is a fault of the other end.
 */

import { z } from 'zod';
import { COUNTERS, LANES, PAGES } from '../../chain/nonce.ts';
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

/** Counters of one lane and page: GPUs search nothing else. */
const strip = z
  .object({
    lane: below(LANES),
    page: below(PAGES),
    pages: z.int().min(1).max(1),
    counter: below(COUNTERS),
    counters: z.int().min(1).max(COUNTERS),
  })
  .refine(({ counter, counters }) => counter + counters <= COUNTERS, 'counters end at 2^32');

/** Faults that tests bring about on purpose: the seam is this message and child/sabotage.ts. */
const fault = z.enum([
  /** The driver does not give the device. */
  'no device',
  /** The process dies at the self-test of the first form of the kernel. */
  'loss while tuning',
  /** The self-test sees wrong hashes. */
  'wrong hashes',
  /** The first check in the middle of mining sees wrong hashes. */
  'wrong hashes later',
  /** Every report claims a nonce that does not solve. */
  'wrong nonces',
  /** The second report is of a range that was not given. */
  'wrong range',
  /** The second report is garbled. */
  'garbage',
  /** Work is taken and never reported on, as by a hung driver. */
  'hang',
  /** The whole process stands still after the first report. */
  'freeze',
  /** The device is gone after the first report, as when it is reset. */
  'device loss',
  /** The process dies after the first report, as by a driver's crash. */
  'crash',
]);
export type Fault = z.infer<typeof fault>;

const milliseconds = z.number().positive();

const open = z.object({
  type: z.literal('open'),
  /** Dawn's name of the adapter; left out, the fastest in Dawn's opinion. */
  adapter: z.string().optional(),
  softwareGpu: z.boolean(),
  /** What a dispatch should take; left out, as tuned. */
  batchMs: milliseconds.min(2).optional(),
  /** The one form of the kernel to use; left out, the fastest. */
  variant: variantShape.optional(),
  /** Where tunings are remembered. */
  cacheDirectory: z.string().optional(),
  /** Measure whatever is remembered. */
  tuneAgain: z.boolean(),
  /** How much is measured. */
  tuningLimits: tuningLimitsShape,
  /** Counters of the first dispatch; left out, one workgroup's. */
  firstCounters: z.int().min(1).optional(),
  /** Forms of the kernel that cost the device when they were tried. */
  skip: z.array(z.string()),
  /** Whose sensors to read. */
  card: z.object({ vendor: z.enum(['nvidia', 'amd', 'intel']).optional(), bus: z.string().exactOptional() }),
  /** Between the child's signs of life. */
  pulseMs: milliseconds,
  /** Between checks of the device while it mines. */
  checkEveryMs: milliseconds,
  fault: fault.optional(),
});
export type OpenMessage = z.infer<typeof open>;

const reading = z.number().exactOptional();
const telemetryShape = z.object({
  temperatureC: reading,
  hotspotC: reading,
  memoryC: reading,
  powerW: reading,
  fanPercent: reading,
  fanRpm: reading,
  coreMHz: reading,
  memoryMHz: reading,
});

export const toChild = z.discriminatedUnion('type', [
  open,
  /** Asks for the adapters; answered once, by `listed`. */
  z.object({ type: z.literal('list') }),
  /** Introduces a job under a name of the parent's. */
  z.object({ type: z.literal('search'), search: z.int(), midstate: words(8), tail: words(16), target: words(8) }),
  /** More to search for it. */
  z.object({ type: z.literal('range'), search: z.int(), range: strip }),
  /** Start nothing more for it; answered by `ended` once its last dispatch is reported. */
  z.object({ type: z.literal('stop'), search: z.int() }),
]);
export type ToChild = z.infer<typeof toChild>;

const adapter = z.object({
  /** Dawn's name of it. */
  model: z.string(),
  /** `vulkan`, `metal` or `d3d12`. */
  backend: z.string(),
  /** As it says once it is opened; absent where its name gives another adapter, or it could not be opened. */
  info: z
    .object({
      /** Of the GPU, in lower case: `nvidia`, `amd`, `intel` …; `mesa` for its software. */
      vendor: z.string(),
      /** With its version, as far as it says. */
      driver: z.string(),
      /** Hashed by the CPU in truth: llvmpipe, SwiftShader, WARP. */
      software: z.boolean(),
    })
    .optional(),
  /** Why it could not be opened. */
  fault: z.string().optional(),
});
export type Adapter = z.infer<typeof adapter>;

export const toParent = z.discriminatedUnion('type', [
  /** While opening takes its time: what it does, and the part of it that is done, 0 to 1. */
  z.object({ type: z.literal('progress'), what: z.string(), done: z.number() }),
  /** The form of the kernel that runs next, while it is tuned: it is to blame if this is the last that is heard. */
  z.object({ type: z.literal('trying'), form: z.string() }),
  z.object({
    type: z.literal('opened'),
    model: z.string(),
    tuning: tuningShape,
    /** For people: why the kernel is used in this form. */
    why: z.string(),
    /** For people: where readings come from, or why there are none. */
    sensors: z.string(),
  }),
  /** A sign of life, at fixed intervals once open; with what the sensors say, when that is new. */
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
  /** The child's last words. */
  z.object({ type: z.literal('failed'), fault: z.enum(['missing', 'lost', 'wrong hashes']), message: z.string() }),
]);
export type ToParent = z.infer<typeof toParent>;
