/** What `pickaxe bench --json` prints. Results that are read again are checked field by field. */

import { z } from 'zod';
import { DEVICE_KINDS } from '../engine/device.ts';
import { isSeed, LEAST_COUNT, MOST_COUNT } from './challenge.ts';

/** It changes when fields change their meaning. */
export const BENCH_FORMAT = 'pickaxe bench 1';

const MOST_CHARACTERS = 256;
/** Far more devices than a rig has; as many slices of a second as the longest measurement. */
const MOST_DEVICES = 1_024;
const MOST_SLICES = 3_600;

/** Results are shown on terminals, which could take control characters for commands. */
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
  /** Present for a CPU. */
  threads: z.int().positive().exactOptional(),
  /** H/s, over all slices. */
  hashrate,
  /** H/s of each slice. */
  slices: z.array(positive).min(1).max(MOST_SLICES),
  /** The highest temperature during the measurement; absent where it is not known, like the power. */
  temperatureC: z.number().exactOptional(),
  /** The mean power during the measurement. */
  powerW: positive.exactOptional(),
  hashes_per_joule: positive.exactOptional(),
  /** 16 hex digits: the sum over the candidates that it found. */
  sum: z.string().regex(/^[0-9a-f]{16}$/, 'not 16 hex digits'),
  candidates: z.object({
    found: tally,
    expected: tally,
    /** How many candidates were wrong. */
    wrong: tally,
    /** How many candidates other devices of the same run found and this one did not. */
    missed: tally,
  }),
  /** What is wrong with its candidates: lines for people, none when nothing is. */
  errors: z.array(line).max(8),
});
export type DeviceResult = Readonly<z.infer<typeof device>>;

const machineShape = z.object({ cpu: line, cores: tally, os: line, node: line, pickaxe: line });

export const benchResultShape = z.object({
  format: z.literal(BENCH_FORMAT),
  machine: machineShape,
  seed: z.string().refine(isSeed, 'not a seed'),
  /** How many nonces were searched for the sum. */
  count: z.int().min(LEAST_COUNT).max(MOST_COUNT),
  /** How long each measurement took, without the warm-up. */
  seconds: positive,
  /** Whether all devices were measured at once. */
  together: z.boolean(),
  devices: z.array(device).max(MOST_DEVICES),
  /** Devices that could not be measured. */
  failed: z.array(z.object({ name: line.min(1), reason: z.string() })).max(MOST_DEVICES),
});
export type BenchResult = Readonly<z.infer<typeof benchResultShape>>;
