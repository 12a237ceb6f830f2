/** Reports to wrappers what happens: one JSON object per line. */

import { z } from 'zod';
import { DEVICE_FAULTS } from '../engine/device.ts';
import type { MinerEvent } from '../events/events.ts';
import { ALARM_STATES, DEVICE_STATES } from '../events/vocabulary.ts';
import { OUTCOMES, SOURCE_KINDS, SOURCE_NEWS, STALE_REASONS } from '../source/vocabulary.ts';
import { type Clock, wallMs } from '../system/clock.ts';
import { jsonText } from '../text/plain-text.ts';
import type { DeviceNow } from './device-stats.ts';
import type { Setup, Summary } from './rig.ts';
import {
  AcceptedBlocks,
  acceptedBlock,
  amount,
  blockState,
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
  nonce,
  PolledChain,
  Proven,
  paidTo,
  RelayCounts,
  rate,
  refused,
  relayRates,
  rigCounts,
  rigName,
  Spread,
  sensorFields,
  user,
  workerDifficulty,
  workerFields,
} from './shapes.ts';
import type { Tally } from './tally.ts';

/**
 * The first four come up to many times a second; `hashrate` and `summary` carry their sums and last values. What the
 * others have to say is in `verdict` and `block-state`.
 */
const UNPRINTED = [
  'hashes',
  'proof',
  'telemetry',
  'fetch',
  'sent-block',
  'accepted-block',
  'unanswered-block',
  'refused-block',
] as const;
type Printed = Exclude<MinerEvent, { type: (typeof UNPRINTED)[number] }>;

type Timed = { readonly timeMillis: number };
type Untimed<Line> = Line extends Timed ? Omit<Line, keyof Timed> : never;

interface Start extends Setup {
  readonly rig: string;
  readonly version: string;
  readonly devices: readonly { readonly name: string }[];
}

export class JsonLines {
  readonly #write: (line: string) => void;
  readonly #clock: Clock;

  /** @param write takes one line, newline included */
  constructor(write: (line: string) => void, clock: Clock) {
    this.#write = write;
    this.#clock = clock;
  }

  readonly listen = (event: MinerEvent): void => {
    if (isPrinted(event)) this.#line(plain(event));
  };

  /** The first line. */
  start({ rig, version, configFiles, account, network, user, devices }: Start): void {
    this.#line({
      type: 'start',
      rig,
      version,
      configFiles: [...configFiles],
      ...(account !== undefined && { account }),
      ...(network !== undefined && { network }),
      ...(user !== undefined && { user }),
      devices: devices.map(({ name }) => name),
    });
  }

  hashrate(tally: Tally): void {
    const all = [...tally.devices()];
    const hashesPerSecond = all.reduce((sum, [, device]) => sum + device.hashesPerSecond, 0);
    this.#line({
      type: 'hashrate',
      hashesPerSecond,
      devices: Object.fromEntries(all.map(([name, now]) => [name, rateOf(now)])),
    });
  }

  summary(summary: Summary): void {
    this.#line({ type: 'summary', ...summary });
  }

  #line({ type, ...fields }: Untimed<JsonLine>): void {
    this.#write(`${jsonText({ type, timeMillis: wallMs(this.#clock), ...fields })}\n`);
  }
}

function isPrinted(event: MinerEvent): event is Printed {
  return !(UNPRINTED as readonly string[]).includes(event.type);
}

function rateOf({ hashesPerSecond, telemetry, hashesPerJoule }: DeviceNow) {
  return {
    hashesPerSecond,
    ...(Object.keys(telemetry).length > 0 && { sensors: telemetry }),
    ...(hashesPerJoule !== undefined && { hashesPerJoule }),
  };
}

/** Heights and times are numbers in JSON, which they fit; nonces decimal strings; hashes hex. */
type Plain<Field, Value> = Field extends 'nonce'
  ? string
  : Value extends bigint
    ? number
    : Value extends Uint8Array
      ? string
      : Value extends readonly (infer Item)[]
        ? Item[]
        : Value;
type PlainEvent<Event> = Event extends unknown ? { [Field in keyof Event]: Plain<Field, Event[Field]> } : never;

function plain(event: Printed): PlainEvent<Printed> {
  const fields = Object.entries(event).map(([name, value]) => [name, plainValue(name, value)]);
  return Object.fromEntries(fields) as PlainEvent<Printed>;
}

function plainValue(name: string, value: unknown): unknown {
  if (typeof value === 'bigint') return name === 'nonce' ? value.toString() : Number(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  return value;
}

/* The shapes of the lines that `--json` prints. A field that is optional is absent where its value is not known. */

const device = z.string();
const source = z
  .string()
  .meta({ description: 'the URL of the node or pool as it is shown, or where parents connect to' });
const block = { chain: count, height: count };

const solution = {
  device: z.string().meta({ description: 'the device that found it, or the relay' }),
  isRelay: z.boolean(),
  ...block,
  nonce,
  isBlock: z.boolean().meta({ description: 'whether it meets the block’s target' }),
  isShare: z.boolean().meta({ description: 'whether it is a share of a pool; it can be a block, too' }),
  difficulty: amount.meta({ description: 'hashes that such a solution takes on average' }),
};

function line<Type extends string, Fields extends z.ZodRawShape>(type: Type, fields: Fields) {
  return z.object({ type: z.literal(type), timeMillis: millis, ...fields });
}

const DeviceRate = z.object({
  hashesPerSecond: rate,
  sensors: z.object(sensorFields(z.number().exactOptional())).exactOptional(),
  hashesPerJoule: amount.exactOptional(),
});

const DeviceCounts = z.object({ ...counts, reopens: count, proven: Proven.exactOptional() });

export const JsonLine = z.discriminatedUnion('type', [
  line('device', {
    device,
    kind: deviceKind,
    state: z.enum(DEVICE_STATES).exclude(['starting']),
    description: z.string(),
    detail: z
      .string()
      .exactOptional()
      .meta({ description: 'why this kernel and these threads, in full; while it is ready' }),
    model: z.string().exactOptional(),
    kernel: z.string().exactOptional(),
    cores: z.array(CoreShape).exactOptional(),
    bus: z.string().exactOptional(),
    reason: z.string().exactOptional(),
    fault: z.enum(DEVICE_FAULTS).exactOptional(),
  }),
  line('progress', { device, what: z.string(), done: z.number().min(0).max(1) }),
  line('work', {
    ...block,
    networkCode: count.exactOptional().meta({ description: 'the number by which the header names its network' }),
    difficulty: amount.meta({ description: 'hashes that a block takes on average' }),
    shareDifficulty: amount.exactOptional().meta({ description: 'the same for a share of a pool' }),
  }),
  line('job', { ...block, creationTimeMicros: count.meta({ description: 'microseconds since the UNIX epoch' }) }),
  line('new-cut', { chain: count }),
  line('work-ended', { chain: count, reason: z.enum(STALE_REASONS).exclude(['new-cut']) }),
  line('job-switch', { device, switchSeconds: amount }),
  line('solution', { ...solution, hash: z.string().regex(/^[0-9a-f]{64}$/) }),
  line('verdict', { outcome: z.enum(OUTCOMES), reason: z.string(), ...solution, answerSeconds: amount }),
  line('block-state', {
    ...acceptedBlock,
    state: blockState,
    previous: blockState.exactOptional().meta({ description: 'absent when it was recorded' }),
    isEarlier: z.literal(true).exactOptional().meta({ description: 'present when an earlier run has found it' }),
    depth: count.meta({ description: 'how many blocks are on top of it, or of the one in its place' }),
    nodesDisagree: z.boolean(),
    settledDepth: count.meta({ description: 'the depth at which it is settled' }),
    settledInSeconds: amount
      .exactOptional()
      .meta({ description: 'about how long that takes, at a block every 30 s; while it is won' }),
    reward: coins.exactOptional(),
    fees: coins.exactOptional(),
    paidTo: paidTo.exactOptional(),
    reason: z.string(),
  }),
  line('block-reward', {
    ...acceptedBlock,
    reward: coins.exactOptional(),
    fees: coins.exactOptional(),
    fault: z.string().exactOptional().meta({ description: 'what a node says of the reward and is false' }),
    paidTo: paidTo.exactOptional(),
    account: z.string().exactOptional().meta({ description: 'whom the block was mined for; with paidTo' }),
    source: source.exactOptional().meta({ description: 'the node that gave the work; with paidTo' }),
    isEarlier: z.literal(true).exactOptional().meta({ description: 'present when an earlier run has found it' }),
  }),
  line('hardware-error', { device, nonce }),
  line('alarm', {
    alarm: z.literal('low-hashrate'),
    state: z.enum(ALARM_STATES),
    device: device.exactOptional(),
    hashesPerSecond: rate,
    limitHashesPerSecond: rate,
  }),
  line('source', {
    source,
    kind: z.enum(SOURCE_KINDS),
    state: z.enum(SOURCE_NEWS),
    reason: z.string(),
    nodeConfiguration: z
      .array(z.string())
      .exactOptional()
      .meta({ description: 'lines of YAML for the node’s configuration, where they would help' }),
  }),
  line('missed-cut', { source, chain: count }),
  line('polling', { source, chains: z.array(PolledChain) }),
  line('relay', {
    relay: z.string(),
    ...relayRates,
    workers: z.array(
      z.object({
        ...workerFields,
        difficulty: workerDifficulty.exactOptional(),
        lastShareSeconds: lastShareSeconds.exactOptional(),
      }),
    ),
    refused: refused.exactOptional(),
  }),
  line('start', {
    rig: rigName,
    version: z.string(),
    configFiles,
    account: minedFor.exactOptional(),
    network: network.exactOptional(),
    user: user.exactOptional(),
    devices: z.array(device).meta({ description: 'those that are opened next' }),
  }),
  line('hashrate', { hashesPerSecond: rate, devices: z.record(z.string(), DeviceRate) }),
  line('summary', {
    ...rigCounts,
    earnings: z.object(earningsFields((schema) => schema.exactOptional())),
    acceptedBlocks: AcceptedBlocks.exactOptional(),
    switchSeconds: Spread.exactOptional(),
    devices: z.record(z.string(), DeviceCounts),
    relays: z.record(z.string(), RelayCounts),
  }),
]);
export type JsonLine = z.infer<typeof JsonLine>;
