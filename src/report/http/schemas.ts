/** What `/api/v1` answers with. Types and the OpenAPI document are made from these. SI units; null while not known. */

import { z } from 'zod';
import { DEVICE_KINDS } from '../../engine/device.ts';
import { DEVICE_STATES } from '../../events/device-states.ts';
import { POLL_REASONS, SOURCE_STATES } from '../../source/vocabulary.ts';
import { RANGES_MS } from '../history.ts';
import { LOG_LEVELS } from '../log-tail.ts';
import type { RatesByWindow } from '../meter.ts';
import { RIG_STATES } from '../rig-states.ts';

const count = z.int().nonnegative();
const amount = z.number().nonnegative();
/** H/s. */
const rate = amount;

const proven = z.object({ hashes: amount, low: amount, high: amount, proofs: count }).meta({
  description: 'Hashes that verified candidates prove, and the limits of the 95 % interval',
});
const spread = z
  .object({ p50: amount, p99: amount, last: amount, count })
  .meta({ description: 'Seconds: median, 99th percentile and last; count: how many there were' });
const averages: Record<keyof RatesByWindow, z.ZodNullable<typeof rate>> = {
  '10s': rate.nullable(),
  '60s': rate.nullable(),
  '15m': rate.nullable(),
};
const windows = z.object(averages).meta({ description: 'H/s over these times; null while they have not passed' });
const speed = {
  hashrate: rate.meta({ description: 'H/s over half a minute' }),
  windows,
  highest: rate.nullable().meta({ description: 'the highest of the rates over 10 s' }),
};
const verdicts = {
  accepted: count,
  rejected: count,
  stale: count,
  unknown: count.meta({ description: 'solutions whose answer was lost' }),
  hardware_errors: count,
};

const Sensors = z
  .object({
    temperature_celsius: z.number().nullable(),
    hotspot_celsius: z.number().nullable(),
    memory_celsius: z.number().nullable(),
    power_watts: z.number().nullable(),
    fan_ratio: z.number().nullable(),
    fan_rpm: z.number().nullable(),
    core_hertz: z.number().nullable(),
    memory_hertz: z.number().nullable(),
  })
  .meta({ id: 'Sensors' });

const Device = z
  .object({
    kind: z.enum(DEVICE_KINDS),
    state: z.enum(DEVICE_STATES),
    description: z.string(),
    bus: z.string().nullable().meta({ description: 'PCI address of a card, like 0000:65:00.0, where it is known' }),
    reason: z.string().nullable().meta({ description: 'why it does not work, when it does not' }),
    ...speed,
    hashes: amount,
    ...verdicts,
    restarts: count,
    proven: proven.nullable(),
    sensors: Sensors,
    hashes_per_joule: amount.nullable(),
  })
  .meta({ id: 'Device' });

const Work = z
  .object({
    chain: count,
    height: count,
    difficulty: amount.meta({ description: 'hashes that a block takes on average' }),
    age_seconds: amount,
  })
  .meta({ id: 'Work' });

const PolledChains = z
  .array(z.object({ chain: count, reason: z.enum(POLL_REASONS) }).meta({ id: 'PolledChain' }))
  .meta({ description: 'chains that are polled every few seconds because their update streams cannot be relied on' });

const Source = z
  .object({
    state: z.enum(SOURCE_STATES),
    reason: z.string(),
    age_seconds: amount.meta({ description: 'for how long it has been in this state' }),
    losses: count,
    warning: z.string().nullable(),
    missed_cuts: count.meta({ description: 'blocks that its open update streams did not tell' }),
    polled_chains: PolledChains,
  })
  .meta({ id: 'Source' });

export const Status = z
  .object({
    rig: z.string().meta({ description: 'what its owner calls the rig: --rig-name, or the host’s name' }),
    version: z.string(),
    time: count.meta({ description: 'milliseconds since the UNIX epoch' }),
    started: count.meta({
      description: 'when it started, milliseconds since the UNIX epoch: the same for the whole run',
    }),
    uptime_seconds: amount,
    control: z.boolean().meta({ description: 'whether pause, resume and stop are allowed' }),
    state: z.enum(RIG_STATES).meta({ description: 'whether the rig mines, and if not, what it does instead' }),
    state_reason: z.string().nullable().meta({ description: 'what keeps the rig from mining; null while it mines' }),
    state_age_seconds: amount.meta({ description: 'for how long it has been in this state' }),
    paused: z.boolean().meta({ description: 'whether the state is paused: every device rests' }),
    ready: z.boolean().meta({ description: 'whether the state is mining' }),
    ...speed,
    hashrate_average: rate.meta({ description: 'H/s over the whole run' }),
    hashes: amount,
    ...verdicts,
    expected_blocks: amount.meta({ description: 'blocks that so many hashes give on average' }),
    effort: amount.meta({ description: 'work since the last accepted block ÷ what a block takes on average' }),
    seconds_to_block: amount.nullable().meta({ description: 'on average, at this rate and difficulty' }),
    best_difficulty: amount,
    new_cuts: count,
    missed_cuts: count.meta({ description: 'blocks that an open update stream did not tell: stale work was mined' }),
    restart_seconds: spread.nullable().meta({ description: 'from a New Cut to searching the new work' }),
    answer_seconds: spread.nullable().meta({ description: 'from finding a solution to knowing what became of it' }),
    work: Work.nullable().meta({ description: 'what is mined now' }),
    chains: z.array(Work).meta({ description: 'the last work of each chain that was mined on' }),
    sources: z.record(z.string(), Source).meta({ description: 'by URL of the node' }),
    devices: z.record(z.string(), Device).meta({ description: 'by name' }),
  })
  .meta({ id: 'Status' });
export type Status = z.infer<typeof Status>;

const column = z.array(z.number().nullable());

export const HistoryAnswer = z
  .object({
    range: z.enum(Object.keys(RANGES_MS) as [keyof typeof RANGES_MS, ...(keyof typeof RANGES_MS)[]]),
    step_seconds: amount,
    time: z.array(count).meta({ description: 'when each step ended, milliseconds since the UNIX epoch' }),
    accepted: z.array(count),
    rejected: z.array(count),
    stale: z.array(count),
    devices: z.record(
      z.string(),
      z.object({ hashrate: column, temperature_celsius: column, power_watts: column }).meta({ id: 'DeviceHistory' }),
    ),
  })
  .meta({ id: 'History', description: 'Columns: the figures at one index belong together' });

export const LogAnswer = z
  .object({
    lines: z.array(
      z
        .object({
          number: count,
          time: count.meta({ description: 'milliseconds since the UNIX epoch' }),
          level: z.enum(LOG_LEVELS),
          tag: z.string(),
          message: z.string(),
        })
        .meta({ id: 'LogLine' }),
    ),
  })
  .meta({ id: 'Log' });

export const Readiness = z.object({ ready: z.boolean(), reasons: z.array(z.string()) }).meta({ id: 'Readiness' });
export const Health = z.object({ status: z.literal('ok'), polled_chains: PolledChains }).meta({ id: 'Health' });
export const ErrorAnswer = z
  .object({ error: z.object({ code: z.string(), message: z.string() }) })
  .meta({ id: 'Error' });

/** Queries and bodies of requests. */
export const HistoryQuery = z.strictObject({ range: HistoryAnswer.shape.range.default('1h') });
export const LogQuery = z.strictObject({
  after: z
    .string()
    .regex(/^\d{1,15}$/, 'a line number')
    .default('0')
    .meta({ description: 'lines with a higher number' }),
});
/** A device's name, like `gpu0`. Without it, all devices are meant. */
export const ControlBody = z.strictObject({ device: z.string().min(1).max(32).optional() }).meta({ id: 'ControlBody' });
