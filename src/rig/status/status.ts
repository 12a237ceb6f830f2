/**
 * The shapes of a rig's status and of a run's summary. The tally computes both, and reports show them or parts of them.
 * Null stands for a value that is not known or does not apply. Except for `timeMillis` and `startTimeMillis`, a past
 * time is given as its age in seconds.
 */

import { z } from 'zod';
import { TELEMETRY_FIELDS, type TelemetryField } from '../../miner/engine/device.ts';
import {
  POLL_REASONS,
  SHARE_OUTCOMES,
  type ShareOutcome,
  SOURCE_KINDS,
  SOURCE_STATES,
} from '../../miner/events/vocabulary.ts';
import { amount, CoreShape, count, deviceKind, deviceState, millis, outcomeCounts, rate } from './shapes.ts';

/* Counts since the start of the run. Outcomes outside of `shares` are counts of blocks. */

const blockCounts = outcomeCounts('blocks by outcome');
export const OutcomeCounts = z.object(blockCounts);
export type OutcomeCounts = z.infer<typeof OutcomeCounts>;

export const Shares = z
  .object({
    ...outcomeCounts('by outcome'),
    acceptedHashes: amount.describe('hashes that the accepted ones represent'),
  })
  .meta({ id: 'Shares', description: 'a pool’s shares; one that is a block also counts as a block' });
export type Shares = z.infer<typeof Shares>;

export const AcceptedBlocks = z
  .object({
    won: count.describe('on the chain, settled ones included'),
    settled: count.describe('those to rely on'),
    orphaned: count.describe('another block has its place'),
    pending: count.describe('nothing is decided'),
    unanswered: count.describe('the node’s answer was lost'),
    lost: count.describe('unanswered, and no node has it'),
    paidElsewhere: count.describe('of all these, those that pay another account'),
  })
  .meta({
    id: 'AcceptedBlocks',
    description: 'blocks by state: the accepted ones are `won`, `orphaned` and `pending`',
  });
export type AcceptedBlocks = z.infer<typeof AcceptedBlocks>;

const Proven = z
  .object({
    hashes: amount.describe('the estimate'),
    low: amount.describe('its 95 % interval'),
    high: amount.describe('its 95 % interval'),
    proofs: count.describe('their number'),
  })
  .describe('what verified candidates prove');
export type Proven = z.infer<typeof Proven>;

const Spread = z
  .object({
    p50: amount.describe('the median of the last 500'),
    p99: amount.describe('the 99th percentile'),
    last: amount.describe('the last one'),
    count: count.describe('how many since the start'),
  })
  .describe('a repeated time, in seconds');
export type Spread = z.infer<typeof Spread>;

const counts = {
  ...blockCounts,
  shares: Shares,
  hardwareErrors: count.describe('wrong candidates'),
  hashes: amount.describe('nonces searched'),
};

const DeviceCounts = z.object({
  ...counts,
  reopens: count.describe('how often it failed and was opened again'),
  proven: Proven.nullable(),
});
export type DeviceCounts = z.infer<typeof DeviceCounts>;

const RelayCounts = z.object({ ...blockCounts, shares: Shares }).meta({ id: 'RelayCounts' });

const Earnings = z
  .object({
    blocksPerDay: amount.nullable().describe('at the chains’ mean difficulty'),
    chanceInDayRatio: amount.nullable().describe('the probability of a block within a day'),
    chanceInMonthRatio: amount.nullable().describe('the same within 30 days'),
    coinsPerBlock: amount.nullable().describe('without fees'),
    coinsPerDay: amount.nullable(),
    powerWatts: amount.nullable().describe('`--power-watts`, or the sum of the sensors'),
    powerPrice: amount.nullable().describe('of a kilowatt-hour: `--power-price`'),
    powerCostPerDay: amount.nullable().describe('in the currency of the price'),
  })
  .meta({
    id: 'Earnings',
    description: 'what this rate earns on average: estimates, so coins are plain numbers',
  });
export type Earnings = z.infer<typeof Earnings>;

const rigCounts = {
  ...counts,
  acceptedBlocks: AcceptedBlocks.nullable(),
  expectedBlocks: amount.describe('what these hashes give on average; the devices’ `accepted` ÷ this is luck'),
  bestDifficulty: amount.describe('of the best hash; 0 before the first candidate'),
  newCuts: count.describe('New Cuts on the mined chain'),
  missedCuts: count.describe('blocks that an open update stream did not announce'),
  switchSeconds: Spread.nullable().describe('from a New Cut to searching the new work'),
  averageHashesPerSecond: rate.describe('over the whole run'),
  uptimeSeconds: amount,
};

/** The totals of a run. Earnings are estimated from the run's average hashrate. */
export const Summary = z.object({
  ...rigCounts,
  earnings: Earnings,
  devices: z.record(z.string(), DeviceCounts).describe('by name'),
  relays: z.record(z.string(), RelayCounts).describe('by name, what each passed on'),
});
export type Summary = z.infer<typeof Summary>;

/* The parts of a rig: devices, relays and sources */

const speed = {
  hashesPerSecond: rate.describe('over half a minute'),
  hashesPerSecondByWindow: z
    .object({ last10s: rate.nullable(), last60s: rate.nullable(), last15m: rate.nullable() })
    .describe('averages'),
  highestHashesPerSecond: rate.nullable().describe('the highest rate over 10 s'),
};
const provenHashesPerSecond = rate.describe('by verified candidates, over a quarter of an hour at most');

const sensor = z.number().nullable();
const READINGS: Readonly<Partial<Record<TelemetryField, string>>> = {
  temperatureCelsius: 'the chip',
  hotspotCelsius: 'its hottest place',
  powerWatts: 'of the card, or of all the CPU’s packages',
  powerLimitWatts: 'the card’s limit',
  fanRatio: '1 is full speed',
};
const Sensors = z
  .object(
    Object.fromEntries(
      TELEMETRY_FIELDS.map((name) => [name, READINGS[name] === undefined ? sensor : sensor.describe(READINGS[name])]),
    ) as Record<TelemetryField, typeof sensor>,
  )
  .meta({ id: 'Sensors', description: 'the last readings; an old one counts as unknown' });
export type Sensors = z.infer<typeof Sensors>;

export const DeviceStatus = z
  .object({
    kind: deviceKind,
    state: deviceState,
    description: z.string().describe('one line for people'),
    model: z.string().nullable(),
    kernel: z.string().nullable().describe('`avx2x2+avx2`: that of performance cores first'),
    cores: z.array(CoreShape).nullable().describe('of a hybrid CPU'),
    bus: z.string().nullable().describe('a card’s PCI address, like `0000:65:00.0`'),
    reason: z.string().nullable().describe('why it does not work'),
    hasWorked: z.boolean().describe('whether it was ever in service'),
    hashingSeconds: amount.nullable().describe('how long ago its first hashes came, pauses included'),
    ...speed,
    ...DeviceCounts.shape,
    provenHashesPerSecond,
    sensors: Sensors,
    hashesPerJoule: amount.nullable().describe('if the power is known'),
  })
  .meta({ id: 'Device' });
export type DeviceStatus = z.infer<typeof DeviceStatus>;

export const Work = z
  .object({
    chain: count,
    height: count,
    difficulty: amount,
    shareDifficulty: amount.nullable().describe('of a pool’s work'),
    ageSeconds: amount,
  })
  .meta({ id: 'Work', description: 'the work of a chain' });
export type Work = z.infer<typeof Work>;

const lastShareSeconds = amount.nullable().describe('how long ago the last one was accepted');
const relayRates = {
  sessions: count.describe('connections, or rigs of a fleet'),
  hashesPerSecond: rate.describe('estimated from shares, or claimed by rigs'),
};

const Worker = z
  .object({
    name: z.string().describe('`(others)`: those beyond 64'),
    ...relayRates,
    ...(Object.fromEntries(SHARE_OUTCOMES.map((outcome) => [outcome, count])) as Record<ShareOutcome, typeof count>),
    blocks: count.describe('those that the node accepted'),
    difficulty: amount.nullable().describe('of its shares now'),
    lastShareSeconds,
  })
  .meta({ id: 'Worker', description: 'a worker of a relay, with the answers to its shares' });
export type Worker = z.infer<typeof Worker>;

/** The fields of a relay's report, in the status and in the JSON line `relay`. */
export const relayReport = {
  ...relayRates,
  workers: z.array(Worker),
  refused: z.record(z.string(), count).describe('refused connections or messages, by reason'),
};

const RelayStatus = z
  .object({
    ...relayReport,
    workersConnected: count.describe('unlisted ones by their sessions'),
    ...RelayCounts.shape,
  })
  .meta({ id: 'Relay', description: 'what hands work on to others, with what it passed on to the node or pool' });
export type RelayStatus = z.infer<typeof RelayStatus>;

const pollReason = z
  .enum(POLL_REASONS)
  .describe('`no-stream`: the node has no update stream for it; `missed-block`: the stream missed one');
const PolledChain = z.object({ chain: count, reason: pollReason }).meta({ id: 'PolledChain' });
export const PolledChains = z.array(PolledChain).describe('chains that are polled every two seconds');

const SourceStatus = z
  .object({
    kind: z.enum(SOURCE_KINDS),
    state: z.enum(SOURCE_STATES).describe('as in `source` lines'),
    reason: z.string(),
    ageSeconds: amount.describe('of this state'),
    latencySeconds: Spread.nullable().describe('from requesting work to receiving it'),
    losses: count.describe('how often it was lost'),
    warning: z.string().nullable().describe('the last one'),
    missedCuts: count,
    polledChains: PolledChains,
  })
  .meta({ id: 'Source' });
export type SourceStatus = z.infer<typeof SourceStatus>;

/* The whole status */

/** The fields of a status that come from the rig's settings and version. They stay the same for the whole run. */
export const setupFields = {
  rig: z.string().describe('`--rig-name`, or the host’s name'),
  version: z.string().describe('of pickaxe'),
  configFiles: z.array(z.string()).describe('the files read'),
  account: z.string().nullable().describe('the one that earns, on a node'),
  network: z.string().nullable().describe('on a node'),
  user: z.string().nullable().describe('on a pool'),
};

export const RIG_STATES = ['starting', 'mining', 'paused', 'waiting-for-work', 'no-source', 'no-device'] as const;
export type RigState = (typeof RIG_STATES)[number];

/** The status without `setupFields`, and without `control`, which depends on the HTTP server's settings. */
export const RigStatus = z.object({
  timeMillis: millis.describe('now'),
  startTimeMillis: millis.describe('when pickaxe started'),
  state: z
    .enum(RIG_STATES)
    .describe(
      '`mining`; `starting`; `paused`; `waiting-for-work`; `no-source`: no source is connected; `no-device`: never on a rig that only hands work on',
    ),
  stateReason: z.string().nullable().describe('why it is not mining'),
  stateAgeSeconds: amount.describe('of this state'),
  paused: z.boolean().describe('whether the state is `paused`'),
  ready: z.boolean().describe('whether the state is `mining`'),
  ...speed,
  ...rigCounts,
  provenHashesPerSecond,
  effort: amount.describe('the devices’ work since their last accepted block ÷ the average work per block'),
  timeToBlockSeconds: amount.nullable().describe('how long a block takes on average at this rate, with workers'),
  timeToShareSeconds: amount.nullable().describe('the same for a pool’s share'),
  earnings: Earnings,
  lastBlockSeconds: amount.nullable().describe('how long ago the last one was accepted'),
  lastShareSeconds,
  answerSeconds: Spread.nullable().describe('from a solution to its answer'),
  work: Work.nullable().describe('the current one'),
  chains: z.array(Work).describe('the last work of each chain'),
  sourceKind: z.enum(SOURCE_KINDS).describe('where work comes from'),
  sources: z.record(z.string(), SourceStatus).describe('by the names in `source` lines'),
  devices: z.record(z.string(), DeviceStatus).describe('by name'),
  relays: z.record(z.string(), RelayStatus).describe('by name'),
});
export type RigStatus = z.infer<typeof RigStatus>;

export const Status = z
  .object({
    ...setupFields,
    control: z.boolean().describe('whether clients may control mining'),
    ...RigStatus.shape,
  })
  .meta({ id: 'Status' });
export type Status = z.infer<typeof Status>;
