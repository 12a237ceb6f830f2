/**
 * The pieces that public JSON is made of. A name says what a figure is and ends with its unit; a value of a closed set
 * is in kebab-case. test/report/public-json.test.ts checks every document.
 */

import { z } from 'zod';
import { CORE_KINDS, DEVICE_KINDS, TELEMETRY_FIELDS, type TelemetryField } from '../engine/device.ts';
import { BLOCK_STATES, SHARE_OUTCOMES, type ShareOutcome } from '../events/vocabulary.ts';
import { OUTCOMES, type Outcome, POLL_REASONS } from '../source/vocabulary.ts';
import type { Earnings } from './earnings.ts';
import type { RatesByWindow } from './rates.ts';

export const count = z.int().nonnegative();
export const amount = z.number().nonnegative();
/** A rate in H/s. */
export const rate = amount;
/** A moment. */
export const millis = count.meta({ description: 'milliseconds since the UNIX epoch' });

export const deviceKind = z.enum(DEVICE_KINDS);
/** What hashes on one kind of a hybrid CPU's cores. */
export const CoreShape = z.object({ kind: z.enum(CORE_KINDS), threads: count, kernel: z.string() });
/** A nonce has 64 bits, which is more than a JSON number carries. */
export const nonce = z
  .string()
  .regex(/^\d{1,20}$/)
  .meta({ description: 'a decimal number' });

export const Proven = z.object({ hashes: amount, low: amount, high: amount, proofs: count }).meta({
  description: 'Hashes that verified candidates prove, and the limits of the 95 % interval',
});

export const Spread = z
  .object({ p50: amount, p99: amount, last: amount, count })
  .meta({ description: 'Seconds: median, 99th percentile and last; count: how many there were' });

const byWindow: Record<keyof RatesByWindow, z.ZodNullable<typeof rate>> = {
  last10s: rate.nullable(),
  last60s: rate.nullable(),
  last15m: rate.nullable(),
};
export const speed = {
  hashesPerSecond: rate.meta({ description: 'over half a minute' }),
  hashesPerSecondByWindow: z
    .object(byWindow)
    .meta({ description: 'averages over 10 s, 60 s and 15 min; null while so much time has not passed' }),
  highestHashesPerSecond: rate.nullable().meta({ description: 'the highest of the rates over 10 s' }),
};

/** What became of solutions. */
export const outcomeCounts = Object.fromEntries(OUTCOMES.map((outcome) => [outcome, count])) as Record<
  Outcome,
  typeof count
>;

/** A pool's shares. */
export const Shares = z
  .object({
    ...outcomeCounts,
    acceptedHashes: amount.meta({ description: 'how many hashes the accepted ones stand for' }),
  })
  .meta({ id: 'Shares', description: 'What became of shares. A share that is a block counts as a block, too' });

/** What became of accepted blocks. */
export const AcceptedBlocks = z
  .object({
    won: count.meta({ description: 'on the chain, settled ones included' }),
    settled: count.meta({ description: 'those of the won ones that can be relied on' }),
    orphaned: count.meta({ description: 'not on the chain' }),
    pending: count.meta({ description: 'nothing is decided' }),
    unanswered: count.meta({ description: 'the node’s answer was lost, and no chain has shown yet what became of it' }),
    lost: count.meta({ description: 'the node’s answer was lost, and no node has it' }),
    paidElsewhere: count.meta({ description: 'those of all these that pay another account than the miner’s' }),
  })
  .meta({
    id: 'AcceptedBlocks',
    description: 'Accepted blocks of this run = won + orphaned + pending. The others are not accepted',
  });

/** An accepted block. */
export const acceptedBlock = {
  chain: count,
  height: count,
  blockHash: z.string().meta({ description: 'by which the ledger names it: 43 characters of base64url' }),
  device: z.string().meta({ description: 'what found it: a device, or a relay that brought it' }),
  isRelay: z.boolean(),
};
export const blockState = z.enum(BLOCK_STATES);
/** Coins, which a JSON number could not carry exactly. */
export const coins = z
  .string()
  .regex(/^-?\d+\.\d{1,12}$/)
  .meta({ description: 'an exact decimal number of coins' });

export const paidTo = z
  .string()
  .meta({ description: 'the account that the block pays in place of the miner’s: it earns nothing' });

export const rigName = z.string().meta({ description: 'what its owner calls the rig: --rig-name, or the host’s name' });
export const configFiles = z.array(z.string()).meta({ description: 'the absolute paths of the files that were read' });
export const minedFor = z.string().meta({ description: 'the account that is mined for' });
export const network = z.string().meta({ description: 'the network that is mined on' });
export const user = z.string().meta({ description: 'the user at the pool' });

/** What a rig, or one device, did. The outcomes are those of blocks. */
export const counts = { ...outcomeCounts, shares: Shares, hardwareErrors: count, hashes: amount };

/** What the source said to what one relay brought. */
export const RelayCounts = z.object({ ...outcomeCounts, shares: Shares }).meta({ id: 'RelayCounts' });

const estimated = rate.meta({
  description: 'estimated from shares, never counted; not part of the rig’s own hashrate',
});

/** How a relay is doing, beside its workers. */
export const relayRates = {
  sessions: count.meta({ description: 'connections of workers' }),
  hashesPerSecond: estimated,
};

export const refused = z
  .record(z.string(), count)
  .meta({ description: 'connections that were refused or ended since the start, by the reason' });

/** The fields of a worker that are always known. Its shares have targets that the relay chose. */
export const workerFields = {
  name: z
    .string()
    .meta({ description: 'as the worker calls itself; (others) sums up those beyond the 64 that are listed' }),
  ...relayRates,
  ...(Object.fromEntries(SHARE_OUTCOMES.map((outcome) => [outcome, count])) as Record<ShareOutcome, typeof count>),
  blocks: count.meta({ description: 'how many of its shares were blocks' }),
};
export const workerDifficulty = amount.meta({ description: 'hashes that one of its shares takes on average now' });
export const lastShareSeconds = amount.meta({ description: 'how long ago the last accepted share was found' });

/** What a whole rig did. */
export const rigCounts = {
  ...counts,
  expectedBlocks: amount.meta({ description: 'blocks that the devices’ hashes give on average' }),
  bestDifficulty: amount.meta({ description: 'of the best hash; 0 before the first candidate' }),
  newCuts: count,
  missedCuts: count.meta({ description: 'blocks that an open update stream did not announce: stale work was mined' }),
  averageHashesPerSecond: rate.meta({ description: 'over the whole run' }),
  uptimeSeconds: amount,
};

/** A field for each quantity that sensors measure, all of the same schema. */
export function sensorFields<Field extends z.ZodType>(field: Field): Record<TelemetryField, Field> {
  return Object.fromEntries(TELEMETRY_FIELDS.map((name) => [name, field])) as Record<TelemetryField, Field>;
}

/** An estimate is a JSON number, unlike coins that there are. */
const EARNINGS = {
  blocksPerDay: amount.meta({
    description: 'blocks on average, at this rate and the mean difficulty of the chains mined',
  }),
  chanceInDayRatio: amount.meta({ description: 'how likely at least one block is within a day, 0 to 1' }),
  chanceInMonthRatio: amount.meta({ description: 'the same within 30 days' }),
  coinsPerBlock: amount.meta({ description: 'new coins of a block; fees come on top' }),
  coinsPerDay: amount.meta({ description: 'coins on average' }),
  powerWatts: amount.meta({
    description: 'what the rig draws: --power-watts, or what the sensors of all its devices tell',
  }),
  powerPrice: amount.meta({ description: 'of a kilowatt-hour: --power-price' }),
  powerCostPerDay: amount.meta({ description: 'what this power costs in a day, in the currency of the price' }),
} satisfies Record<keyof Earnings, z.ZodType>;
export const EARNINGS_FIELDS = Object.keys(EARNINGS) as (keyof Earnings)[];

/** A field for each figure of an estimate, by a function of the field's schema. */
export function earningsFields<Field extends z.ZodType>(
  field: (schema: z.ZodNumber) => Field,
): Record<keyof Earnings, Field> {
  const fields = EARNINGS_FIELDS.map((name) => [name, field(EARNINGS[name])]);
  return Object.fromEntries(fields) as Record<keyof Earnings, Field>;
}

export const PolledChain = z.object({ chain: count, reason: z.enum(POLL_REASONS) }).meta({ id: 'PolledChain' });
