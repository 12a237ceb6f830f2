/**
 * What `/api/v1` answers with. Types and the OpenAPI document are made from these. Null stands for what is not known.
 */

import { z } from 'zod';
import { DEVICE_STATES } from '../../events/vocabulary.ts';
import { SOURCE_KINDS, SOURCE_STATES } from '../../source/vocabulary.ts';
import { RIG_STATES } from '../figures.ts';
import { RANGES_MS } from '../history.ts';
import { LOG_LEVELS } from '../log-tail.ts';
import {
  AcceptedBlocks,
  amount,
  CoreShape,
  coins,
  configFiles,
  count,
  counts,
  deviceKind,
  earningsFields,
  lastShareSeconds,
  millis,
  minedFor,
  network,
  PolledChain,
  Proven,
  RelayCounts,
  rate,
  refused,
  relayRates,
  rigCounts,
  rigName,
  Spread,
  sensorFields,
  speed,
  user,
  workerDifficulty,
  workerFields,
} from '../shapes.ts';
import { ERROR_CODES } from './access.ts';

const Sensors = z.object(sensorFields(z.number().nullable())).meta({ id: 'Sensors' });

const provenHashesPerSecond = rate.meta({
  description: 'what verified candidates prove, over a quarter of an hour or since the device came into service',
});

const Device = z
  .object({
    kind: deviceKind,
    state: z.enum(DEVICE_STATES),
    description: z.string(),
    model: z.string().nullable().meta({ description: 'of the chip; null before the device was opened' }),
    kernel: z.string().nullable().meta({ description: 'the one in use; null before the device was opened' }),
    cores: z
      .array(CoreShape)
      .nullable()
      .meta({ description: 'the kinds of a hybrid CPU’s cores; null where all cores are alike, and for a GPU' }),
    bus: z.string().nullable().meta({ description: 'PCI address of a card, like 0000:65:00.0, where it is known' }),
    reason: z.string().nullable().meta({ description: 'why it does not work, when it does not' }),
    ...speed,
    ...counts,
    reopens: count.meta({ description: 'how often it failed and had to be opened again' }),
    proven: Proven.nullable(),
    provenHashesPerSecond,
    sensors: Sensors,
    hashesPerJoule: amount.nullable(),
  })
  .meta({ id: 'Device' });

const Work = z
  .object({
    chain: count,
    height: count,
    difficulty: amount.meta({ description: 'hashes that a block takes on average' }),
    shareDifficulty: amount.nullable().meta({ description: 'the same for a share of a pool; null for a node’s work' }),
    ageSeconds: amount,
  })
  .meta({ id: 'Work' });

const Worker = z
  .object({
    ...workerFields,
    difficulty: workerDifficulty.nullable(),
    lastShareSeconds: lastShareSeconds.nullable(),
  })
  .meta({ id: 'Worker', description: 'One worker of a relay. Its shares have targets that the relay chose' });

const Relay = z
  .object({
    ...relayRates,
    workersConnected: count,
    ...RelayCounts.shape,
    refused,
    workers: z.array(Worker),
  })
  .meta({ id: 'Relay', description: 'The outcomes are those of blocks and shares that the relay brought' });

const PolledChains = z
  .array(PolledChain)
  .meta({ description: 'chains that are polled every few seconds because their update streams cannot be relied on' });

const Source = z
  .object({
    kind: z.enum(SOURCE_KINDS),
    state: z.enum(SOURCE_STATES),
    reason: z.string(),
    ageSeconds: amount.meta({ description: 'for how long it has been in this state' }),
    latencySeconds: Spread.nullable().meta({ description: 'from asking it for work to having it' }),
    losses: count,
    warning: z.string().nullable(),
    missedCuts: count.meta({ description: 'blocks that its open update streams did not announce' }),
    polledChains: PolledChains,
  })
  .meta({ id: 'Source' });

const Earnings = z
  .object(earningsFields((schema) => schema.nullable()))
  .meta({ id: 'Earnings', description: 'What the rig earns on average if nothing changes: an estimate' });

export const Status = z
  .object({
    rig: rigName,
    version: z.string(),
    configFiles,
    account: minedFor
      .nullable()
      .meta({ description: 'the account that is mined for; null on a pool and for a parent' }),
    network: network.nullable().meta({ description: 'the network that is mined on; null on a pool and for a parent' }),
    user: user.nullable().meta({ description: 'the user at the pool; null elsewhere' }),
    timeMillis: millis,
    startTimeMillis: millis.meta({
      description: 'when it started, milliseconds since the UNIX epoch: the same for the whole run',
    }),
    control: z.boolean().meta({ description: 'whether pause, resume and stop are allowed' }),
    state: z.enum(RIG_STATES).meta({ description: 'whether the rig mines, and if not, what it does instead' }),
    stateReason: z.string().nullable().meta({ description: 'what keeps the rig from mining; null while it mines' }),
    stateAgeSeconds: amount.meta({ description: 'for how long it has been in this state' }),
    paused: z.boolean().meta({ description: 'whether the state is paused: every device is paused' }),
    ready: z.boolean().meta({ description: 'whether the state is mining' }),
    ...speed,
    ...rigCounts,
    acceptedBlocks: AcceptedBlocks.nullable().meta({
      description: 'what became of accepted blocks; null before the first one, and without a block log',
    }),
    provenHashesPerSecond,
    effort: amount.meta({
      description: 'the devices’ work since their last accepted block ÷ what a block takes on average',
    }),
    timeToBlockSeconds: amount.nullable().meta({
      description:
        'on average, at the mean difficulty of the chains mined and this rate, the estimated one of relays’ workers included; null while there is none',
    }),
    timeToShareSeconds: amount.nullable().meta({ description: 'the same for a share; null for a node’s work, too' }),
    earnings: Earnings,
    lastShareSeconds: lastShareSeconds.nullable(),
    switchSeconds: Spread.nullable().meta({ description: 'from a New Cut to searching the new work' }),
    answerSeconds: Spread.nullable().meta({ description: 'from finding a solution to knowing what became of it' }),
    work: Work.nullable().meta({ description: 'what is mined now' }),
    chains: z.array(Work).meta({ description: 'the last work of each chain that was mined on' }),
    sourceKind: z.enum(SOURCE_KINDS).meta({ description: 'what the rig’s work comes from' }),
    sources: z.record(z.string(), Source).meta({ description: 'by URL, or by where parents connect to' }),
    devices: z.record(z.string(), Device).meta({ description: 'by name' }),
    relays: z.record(z.string(), Relay).meta({ description: 'what hands work on to others, by name' }),
  })
  .meta({ id: 'Status' });
export type Status = z.infer<typeof Status>;

/** The event `status` of the event stream. Its other events are the lines of `--json`. */
export const StatusEvent = z.object({ type: z.literal('status'), ...Status.shape });
export type StatusEvent = z.infer<typeof StatusEvent>;

const column = z.array(z.number().nullable());

export const HistoryAnswer = z
  .object({
    range: z.enum(Object.keys(RANGES_MS) as [keyof typeof RANGES_MS, ...(keyof typeof RANGES_MS)[]]),
    stepSeconds: amount,
    timeMillis: z.array(millis).meta({ description: 'when each step ended, milliseconds since the UNIX epoch' }),
    accepted: z.array(count),
    rejected: z.array(count),
    stale: z.array(count),
    shares: z.object({ accepted: z.array(count), rejected: z.array(count), stale: z.array(count) }),
    devices: z.record(
      z.string(),
      z
        .object({ hashesPerSecond: column, temperatureCelsius: column, powerWatts: column })
        .meta({ id: 'DeviceHistory' }),
    ),
    relays: z.record(
      z.string(),
      z.object({ hashesPerSecond: column }).meta({ id: 'RelayHistory', description: 'estimated from shares' }),
    ),
  })
  .meta({ id: 'History', description: 'Columns: the figures at one index belong together' });

export const LogAnswer = z
  .object({
    lines: z.array(
      z
        .object({
          number: count,
          timeMillis: millis,
          level: z.enum(LOG_LEVELS),
          tag: z.string(),
          message: z.string(),
        })
        .meta({ id: 'LogLine' }),
    ),
  })
  .meta({ id: 'Log' });

export const BalanceAnswer = z
  .object({
    account: z.string().meta({ description: 'the one that is mined for' }),
    node: z.string().meta({ description: 'the node that said it; pickaxe cannot prove it' }),
    timeMillis: millis.meta({ description: 'when the node said it, milliseconds since the UNIX epoch' }),
    total: coins.nullable().meta({ description: 'the sum; null unless every chain answered' }),
    chains: z.array(
      z
        .object({
          chain: count,
          balance: coins.nullable().meta({ description: '0.0 where the account does not exist' }),
          exists: z.boolean().nullable().meta({ description: 'whether the account exists there' }),
          fault: z.string().nullable().meta({ description: 'why the chain did not answer' }),
        })
        .meta({ id: 'ChainBalance', description: 'Balance and exists are null when the chain did not answer' }),
    ),
  })
  .meta({ id: 'Balance' });

export const Readiness = z
  .object({ ready: z.boolean(), reasons: z.array(z.enum(RIG_STATES)) })
  .meta({ id: 'Readiness' });
export const Health = z.object({ status: z.literal('ok'), polledChains: PolledChains }).meta({ id: 'Health' });
export const ErrorAnswer = z
  .object({ error: z.object({ code: z.enum(ERROR_CODES), message: z.string() }) })
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
/** A device's name, like `gpu0`. Without it, the request is for all devices. */
export const ControlBody = z.strictObject({ device: z.string().min(1).max(32).optional() }).meta({ id: 'ControlBody' });
