/** What `pickaxe bench --json` prints, and what is read of it again: every field of it is checked at the door. */

import { z } from 'zod';
import { DEVICE_KINDS } from '../engine/device.ts';
import { isSeed, LEAST_COUNT, MOST_COUNT } from './challenge.ts';

/** Another one when fields change their meaning. */
export const BENCH_FORMAT = 'pickaxe bench 1';

const MOST_CHARACTERS = 256;
/** Far more than a rig has, and than one measurement has slices of a second. */
const MOST_DEVICES = 1_024;
const MOST_SLICES = 3_600;

/** Shown on terminals: control characters could be commands to them. */
const line = z
  .string()
  .max(MOST_CHARACTERS)
  .regex(/^\P{C}*$/u, 'control characters');
const positive = z.number().positive();
const tally = z.int().min(0);

const hashrate = z.object({
  mean: positive,
  median: positive,
  min: positive,
  max: positive,
  cv: z.number().min(0),
});

const device = z.object({
  name: line.min(1),
  kind: z.enum(DEVICE_KINDS),
  model: line,
  kernel: line,
  /** Of a CPU. */
  threads: z.int().positive().exactOptional(),
  /** H/s, of the slices. */
  hashrate,
  /** H/s of each. */
  slices: z.array(positive).min(1).max(MOST_SLICES),
  /** The highest while it was measured; it and the power are left out where they are not known. */
  temperatureC: z.number().exactOptional(),
  /** The mean while it was measured. */
  powerW: positive.exactOptional(),
  hashes_per_joule: positive.exactOptional(),
  /** 16 hex digits: of the candidates that it found. */
  sum: z.string().regex(/^[0-9a-f]{16}$/, 'not 16 hex digits'),
  candidates: z.object({
    found: tally,
    expected: tally,
    /** Claims that were wrong. */
    wrong: tally,
    /** Those that other devices of the same run found and this one did not. */
    missed: tally,
  }),
  /** What is wrong with its answer, a line for people each; none when nothing is. */
  errors: z.array(line).max(8),
});
export type DeviceResult = Readonly<z.infer<typeof device>>;

export const machineShape = z.object({ cpu: line, cores: tally, os: line, node: line, pickaxe: line });

export const benchResultShape = z.object({
  format: z.literal(BENCH_FORMAT),
  machine: machineShape,
  seed: z.string().refine(isSeed, 'not a seed'),
  /** Nonces that the sum is of. */
  count: z.int().min(LEAST_COUNT).max(MOST_COUNT),
  /** Of each measurement, without the warm-up. */
  seconds: positive,
  /** Whether all devices were measured at once. */
  together: z.boolean(),
  devices: z.array(device).max(MOST_DEVICES),
  /** Devices that could not be measured. */
  failed: z.array(z.object({ name: line.min(1), reason: z.string() })).max(MOST_DEVICES),
});
export type BenchResult = Readonly<z.infer<typeof benchResultShape>>;
