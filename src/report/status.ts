/**
 * The status of a rig: the one shape that all reports show, or parts of it. The tally computes it. Null stands for
 * values that are not known, and points in time are given as their age in seconds.
 */

import { z } from 'zod';
import { TELEMETRY_FIELDS, type TelemetryField } from '../engine/device.ts';
import { DEVICE_STATES, SHARE_OUTCOMES, type ShareOutcome } from '../events/vocabulary.ts';
import { POLL_REASONS, SOURCE_KINDS, SOURCE_STATES } from '../source/vocabulary.ts';
import { amount, CoreShape, count, deviceKind, millis, outcomeCounts, rate } from './shapes.ts';

/* Counts since the start. Outcomes without `shares` are those of blocks. */

export const OutcomeCounts = z.object(outcomeCounts);
export type OutcomeCounts = z.infer<typeof OutcomeCounts>;

export const Shares = z
  .object({
    ...outcomeCounts,
    acceptedHashes: amount.describe('how many hashes the accepted ones stand for'),
  })
  .meta({ id: 'Shares', description: 'What became of shares. A share that is a block counts as a block, too' });
export type Shares = z.infer<typeof Shares>;

export const AcceptedBlocks = z
  .object({
    won: count.describe('on the chain, settled ones included'),
    settled: count.describe('those of the won ones that can be relied on'),
    orphaned: count.describe('not on the chain'),
    pending: count.describe('nothing is decided'),
    unanswered: count.describe('the node’s answer was lost, and no chain has shown yet what became of it'),
    lost: count.describe('the node’s answer was lost, and no node has it'),
    paidElsewhere: count.describe('those of all these that pay another account than the miner’s'),
  })
  .meta({
    id: 'AcceptedBlocks',
    description: 'Accepted blocks of this run = won + orphaned + pending. The others are not accepted',
  });
export type AcceptedBlocks = z.infer<typeof AcceptedBlocks>;

const Proven = z
  .object({ hashes: amount, low: amount, high: amount, proofs: count })
  .describe('Hashes that verified candidates prove, and the limits of the 95 % interval');
export type Proven = z.infer<typeof Proven>;

const Spread = z
  .object({ p50: amount, p99: amount, last: amount, count })
  .describe('Seconds: median, 99th percentile and last; count: how many there were');
export type Spread = z.infer<typeof Spread>;

const counts = {
  ...outcomeCounts,
  shares: Shares,
  hardwareErrors: count.describe('reported candidates that are wrong'),
  hashes: amount.describe('nonces searched'),
};

const DeviceCounts = z.object({
  ...counts,
  reopens: count.describe('how often it failed and had to be opened again'),
  proven: Proven.nullable().describe('null before the first verified candidate'),
});
export type DeviceCounts = z.infer<typeof DeviceCounts>;

const RelayCounts = z.object({ ...outcomeCounts, shares: Shares }).meta({ id: 'RelayCounts' });

const Earnings = z
  .object({
    blocksPerDay: amount
      .nullable()
      .describe('blocks on average, at this rate and the mean difficulty of the chains mined'),
    chanceInDayRatio: amount.nullable().describe('how likely at least one block is within a day, 0 to 1'),
    chanceInMonthRatio: amount.nullable().describe('the same within 30 days'),
    coinsPerBlock: amount.nullable().describe('new coins of a block; fees come on top'),
    coinsPerDay: amount.nullable().describe('coins on average'),
    powerWatts: amount
      .nullable()
      .describe('what the rig draws: --power-watts, or what the sensors of all its devices report'),
    powerPrice: amount.nullable().describe('of a kilowatt-hour: --power-price'),
    powerCostPerDay: amount.nullable().describe('what this power costs in a day, in the currency of the price'),
  })
  .meta({ id: 'Earnings', description: 'What the rig earns on average if nothing changes: an estimate' });
export type Earnings = z.infer<typeof Earnings>;

const rigCounts = {
  ...counts,
  acceptedBlocks: AcceptedBlocks.nullable().describe(
    'what became of accepted blocks; null before the first one, and without a block log',
  ),
  expectedBlocks: amount.describe('blocks that the devices’ hashes give on average'),
  bestDifficulty: amount.describe('of the best hash; 0 before the first candidate'),
  newCuts: count,
  missedCuts: count.describe('blocks that an open update stream did not announce: stale work was mined'),
  switchSeconds: Spread.nullable().describe('from a New Cut to searching the new work'),
  averageHashesPerSecond: rate.describe('over the whole run'),
  uptimeSeconds: amount,
};

/** The totals of a run. Earnings are estimated at its average rate. */
export const Summary = z.object({
  ...rigCounts,
  earnings: Earnings,
  devices: z.record(z.string(), DeviceCounts).describe('those that have ever been in service, by name'),
  relays: z.record(z.string(), RelayCounts),
});
export type Summary = z.infer<typeof Summary>;

/* The parts of the rig */

const speed = {
  hashesPerSecond: rate.describe('over half a minute'),
  hashesPerSecondByWindow: z
    .object({ last10s: rate.nullable(), last60s: rate.nullable(), last15m: rate.nullable() })
    .describe('averages over 10 s, 60 s and 15 min; null while so much time has not passed'),
  highestHashesPerSecond: rate.nullable().describe('the highest of the rates over 10 s'),
};
const provenHashesPerSecond = rate.describe(
  'what verified candidates prove, over a quarter of an hour or since the device came into service',
);

const sensor = z.number().nullable();
const Sensors = z
  .object(Object.fromEntries(TELEMETRY_FIELDS.map((name) => [name, sensor])) as Record<TelemetryField, typeof sensor>)
  .meta({ id: 'Sensors', description: 'The last readings; null where there is no such sensor, or the reading is old' });
export type Sensors = z.infer<typeof Sensors>;

export const DeviceStatus = z
  .object({
    kind: deviceKind,
    state: z.enum(DEVICE_STATES),
    description: z.string().describe('model, kernel, thread count: one line for people'),
    model: z.string().nullable().describe('of the chip; null before the device was opened'),
    kernel: z.string().nullable().describe('the one in use; null before the device was opened'),
    cores: z
      .array(CoreShape)
      .nullable()
      .describe('the kinds of a hybrid CPU’s cores; null where all cores are alike, and for a GPU'),
    bus: z.string().nullable().describe('PCI address of a card, like 0000:65:00.0, where it is known'),
    reason: z.string().nullable().describe('why it does not work, when it does not'),
    hasWorked: z.boolean().describe('whether it has ever been in service'),
    hashingSeconds: amount
      .nullable()
      .describe('how long ago it reported its first hashes, pauses included; null before'),
    ...speed,
    ...DeviceCounts.shape,
    provenHashesPerSecond,
    sensors: Sensors,
    hashesPerJoule: amount.nullable().describe('null where its power is not known'),
  })
  .meta({ id: 'Device' });
export type DeviceStatus = z.infer<typeof DeviceStatus>;

export const Work = z
  .object({
    chain: count,
    height: count,
    difficulty: amount.describe('hashes that a block takes on average'),
    shareDifficulty: amount.nullable().describe('the same for a share of a pool; null for a node’s work'),
    ageSeconds: amount,
  })
  .meta({ id: 'Work' });
export type Work = z.infer<typeof Work>;

const lastShareSeconds = amount
  .nullable()
  .describe('how long ago the last accepted share was found; null before the first');
const relayRates = {
  sessions: count.describe('connections of workers, or rigs of a fleet'),
  hashesPerSecond: rate.describe(
    'estimated from shares, or claimed by a rig of a fleet, never counted; not part of the rig’s own hashrate',
  ),
};

const Worker = z
  .object({
    name: z.string().describe('as the worker calls itself; (others) sums up those beyond the 64 that are listed'),
    ...relayRates,
    ...(Object.fromEntries(SHARE_OUTCOMES.map((outcome) => [outcome, count])) as Record<ShareOutcome, typeof count>),
    blocks: count.describe('how many of its shares were blocks'),
    difficulty: amount
      .nullable()
      .describe('hashes that one of its shares takes on average now; null while it has no session'),
    lastShareSeconds,
  })
  .meta({ id: 'Worker', description: 'One worker of a relay. Its shares have targets that the relay chose' });
export type Worker = z.infer<typeof Worker>;

/** The fields of a relay's report, also in its event. */
export const relayReport = {
  ...relayRates,
  workers: z.array(Worker),
  refused: z
    .record(z.string(), count)
    .describe('connections or messages that were refused, or ended, since the start, by the reason'),
};

const RelayStatus = z
  .object({
    ...relayReport,
    workersConnected: count.describe('those that are not listed by name count by their sessions'),
    ...RelayCounts.shape,
  })
  .meta({ id: 'Relay', description: 'The outcomes are those of blocks and shares that the relay brought' });
export type RelayStatus = z.infer<typeof RelayStatus>;

const PolledChain = z.object({ chain: count, reason: z.enum(POLL_REASONS) }).meta({ id: 'PolledChain' });
export const PolledChains = z
  .array(PolledChain)
  .describe('chains that are polled every few seconds because their update streams cannot be relied on');

const SourceStatus = z
  .object({
    kind: z.enum(SOURCE_KINDS),
    state: z.enum(SOURCE_STATES),
    reason: z.string(),
    ageSeconds: amount.describe('for how long it has been in this state'),
    latencySeconds: Spread.nullable().describe('from asking it for work to having it'),
    losses: count.describe('how often it went out of reach'),
    warning: z.string().nullable().describe('its last one'),
    missedCuts: count.describe('blocks that its open update streams did not announce'),
    polledChains: PolledChains,
  })
  .meta({ id: 'Source' });
export type SourceStatus = z.infer<typeof SourceStatus>;

/* The whole */

/** The fields that stay the same for the whole run. */
export const setupFields = {
  rig: z.string().describe('what its owner calls the rig: --rig-name, or the host’s name'),
  version: z.string(),
  configFiles: z.array(z.string()).describe('the absolute paths of the files that were read'),
  account: z.string().nullable().describe('the account that is mined for; null on a pool and for a parent'),
  network: z.string().nullable().describe('the network that is mined on; null on a pool and for a parent'),
  user: z.string().nullable().describe('the user at the pool; null elsewhere'),
};

export const RIG_STATES = ['starting', 'mining', 'paused', 'waiting-for-work', 'no-source', 'no-device'] as const;
export type RigState = (typeof RIG_STATES)[number];

/** The status without the setup and the permissions of the HTTP server. */
export const RigStatus = z.object({
  timeMillis: millis,
  startTimeMillis: millis.describe('when it started, milliseconds since the UNIX epoch: the same for the whole run'),
  state: z.enum(RIG_STATES).describe('whether the rig mines, and if not, what it does instead'),
  stateReason: z.string().nullable().describe('what keeps the rig from mining; null while it mines'),
  stateAgeSeconds: amount.describe('for how long it has been in this state'),
  paused: z.boolean().describe('whether the state is paused: every device is paused'),
  ready: z.boolean().describe('whether the state is mining'),
  ...speed,
  ...rigCounts,
  provenHashesPerSecond,
  effort: amount.describe('the devices’ work since their last accepted block ÷ what a block takes on average'),
  timeToBlockSeconds: amount
    .nullable()
    .describe(
      'on average, at the mean difficulty of the chains mined and this rate, the estimated one of relays’ workers included; null while there is none',
    ),
  timeToShareSeconds: amount.nullable().describe('the same for a share; null for a node’s work, too'),
  earnings: Earnings,
  lastBlockSeconds: amount.nullable().describe('how long ago the last block was accepted; null before the first'),
  lastShareSeconds,
  answerSeconds: Spread.nullable().describe('from finding a solution to knowing what became of it'),
  work: Work.nullable().describe('what is mined now'),
  chains: z.array(Work).describe('the last work of each chain that was mined on'),
  sourceKind: z.enum(SOURCE_KINDS).describe('what the rig’s work comes from'),
  sources: z.record(z.string(), SourceStatus).describe('by URL, or by where parents connect to'),
  devices: z.record(z.string(), DeviceStatus).describe('by name'),
  relays: z.record(z.string(), RelayStatus).describe('what hands work on to others, by name'),
});
export type RigStatus = z.infer<typeof RigStatus>;

export const Status = z
  .object({
    ...setupFields,
    control: z.boolean().describe('whether pause, resume and stop are allowed'),
    ...RigStatus.shape,
  })
  .meta({ id: 'Status' });
export type Status = z.infer<typeof Status>;
