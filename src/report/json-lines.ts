/** The lines of `--json`: one JSON object for each event, for programs that wrap pickaxe. */

import { z } from 'zod';
import { DEVICE_FAULTS } from '../engine/device.ts';
import type { MinerEvent } from '../events/events.ts';
import { ALARM_STATES, DEVICE_STATES } from '../events/vocabulary.ts';
import { OUTCOMES, SOURCE_KINDS, SOURCE_NEWS, STALE_REASONS } from '../source/vocabulary.ts';
import { type Clock, wallMs } from '../system/clock.ts';
import { jsonText } from '../text/plain-text.ts';
import { inService } from './figures.ts';
import { reportedSetup, type Setup } from './running-miner.ts';
import { acceptedBlock, amount, blockState, coins, count, millis, nonce, paidTo, rate } from './shapes.ts';
import { workerStatus } from './source-stats.ts';
import { DeviceStatus, PolledChains, type RigStatus, relayReport, Summary, setupFields, Work } from './status.ts';

/**
 * The first four come many times a second, and `hashrate` and `summary` carry their totals. The contents of the others
 * are in `verdict` and `block-state`.
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

export class JsonLines {
  readonly #write: (line: string) => void;
  readonly #clock: Clock;

  /** @param write receives a line with its newline */
  constructor(write: (line: string) => void, clock: Clock) {
    this.#write = write;
    this.#clock = clock;
  }

  readonly listen = (event: MinerEvent): void => {
    if (isPrinted(event)) this.#line(lineOf(event));
  };

  start(rigName: string, setup: Setup, devices: readonly { readonly name: string }[]): void {
    this.#line({ type: 'start', ...reportedSetup(rigName, setup), devices: devices.map(({ name }) => name) });
  }

  hashrate({ hashesPerSecond, devices }: Pick<RigStatus, 'hashesPerSecond' | 'devices'>): void {
    const rates = inService(devices).map(([name, { hashesPerSecond, sensors, hashesPerJoule }]) => {
      return [name, { hashesPerSecond, sensors, hashesPerJoule }] as const;
    });
    this.#line({ type: 'hashrate', hashesPerSecond, devices: Object.fromEntries(rates) });
  }

  summary(summary: Summary): void {
    this.#line({ type: 'summary', ...summary });
  }

  /** Fields come in the schema's order. */
  #line(line: Untimed<JsonLine>): void {
    const known: Readonly<Record<string, unknown>> = line;
    const { type, ...fields } = Object.fromEntries(FIELDS.get(line.type)!.map((name) => [name, known[name]]));
    this.#write(`${jsonText({ type, timeMillis: wallMs(this.#clock), ...fields })}\n`);
  }
}

function isPrinted(event: MinerEvent): event is Printed {
  return !(UNPRINTED as readonly string[]).includes(event.type);
}

/** Heights and times become numbers, nonces decimal strings, bytes hex, and absent values null. */
type Plain<Name, Value> = Name extends 'nonce'
  ? string
  : Value extends bigint
    ? number
    : Value extends Uint8Array
      ? string
      : Value extends readonly (infer Item)[]
        ? Item[]
        : Value extends undefined
          ? null
          : Value;
type PlainEvent<Event> = Event extends unknown
  ? { [Name in keyof Event]-?: Plain<Name, Name extends 'isEarlier' ? boolean : Event[Name]> }
  : never;

function lineOf(event: Printed): Untimed<JsonLine> {
  if (event.type === 'relay') {
    const { refused = {}, workers, ...report } = event;
    return { ...report, refused: { ...refused }, workers: workers.map((worker) => workerStatus(worker)) };
  }
  const { type } = event;
  const known: Readonly<Record<string, unknown>> = { ...event };
  const names = FIELDS.get(type) ?? [];
  return Object.fromEntries(names.map((name) => [name, plainValue(name, known[name])])) as PlainEvent<
    Exclude<Printed, { type: 'relay' }>
  >;
}

function plainValue(name: string, value: unknown): unknown {
  if (name === 'isEarlier') return value ?? false;
  if (typeof value === 'bigint') return name === 'nonce' ? value.toString() : Number(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  return value ?? null;
}

/* The shapes of the lines. Null stands for values that are not known. */

const device = z.string();
const source = z.string().describe('the URL of the node or pool as it is shown, or where parents connect to');
const { chain, height, difficulty, shareDifficulty } = Work.shape;
const block = { chain, height };

const solution = {
  device: z.string().describe('the device that found it, or the relay'),
  isRelay: z.boolean(),
  ...block,
  nonce,
  isBlock: z.boolean().describe('whether it meets the block’s target'),
  isShare: z.boolean().describe('whether it is a share of a pool; it can be a block, too'),
  difficulty: amount.describe('hashes that such a solution takes on average'),
};

const isEarlier = z.boolean().describe('whether an earlier run has found it');

function line<Type extends string, Fields extends z.ZodRawShape>(type: Type, fields: Fields) {
  return z.object({ type: z.literal(type), timeMillis: millis, ...fields });
}

const { kind, description, model, kernel, cores, bus, reason } = DeviceStatus.shape;

export const JsonLine = z.discriminatedUnion('type', [
  line('device', {
    device,
    kind,
    state: z.enum(DEVICE_STATES).exclude(['starting']),
    description,
    detail: z.string().nullable().describe('why this kernel and these threads, in full; null unless it is ready'),
    model,
    kernel,
    cores,
    bus,
    reason,
    fault: z.enum(DEVICE_FAULTS).nullable(),
  }),
  line('progress', { device, what: z.string(), done: z.number().min(0).max(1) }),
  line('work', {
    ...block,
    networkCode: count.nullable().describe('the number by which the header names its network'),
    difficulty,
    shareDifficulty,
  }),
  line('job', { ...block, creationTimeMicros: count.describe('microseconds since the UNIX epoch') }),
  line('new-cut', { chain: count }),
  line('work-ended', { chain: count, reason: z.enum(STALE_REASONS).exclude(['new-cut']) }),
  line('job-switch', { device, switchSeconds: amount }),
  line('solution', { ...solution, hash: z.string().regex(/^[0-9a-f]{64}$/) }),
  line('verdict', { outcome: z.enum(OUTCOMES), reason: z.string(), ...solution, answerSeconds: amount }),
  line('block-state', {
    ...acceptedBlock,
    state: blockState,
    previous: blockState.nullable().describe('null when it was recorded'),
    isEarlier,
    depth: count.describe('how many blocks are on top of it, or of the one in its place'),
    nodesDisagree: z.boolean(),
    settledDepth: count.describe('the depth at which it is settled'),
    settledInSeconds: amount.nullable().describe('about how long that takes, at a block every 30 s; while it is won'),
    reward: coins.nullable(),
    fees: coins.nullable(),
    paidTo: paidTo.nullable(),
    reason: z.string(),
  }),
  line('block-reward', {
    ...acceptedBlock,
    reward: coins.nullable(),
    fees: coins.nullable(),
    fault: z.string().nullable().describe('what a node says of the reward and is false'),
    paidTo: paidTo.nullable(),
    account: z.string().nullable().describe('whom the block was mined for; with paidTo'),
    source: source.nullable().describe('the node that gave the work; with paidTo'),
    isEarlier,
  }),
  line('hardware-error', { device, nonce }),
  line('alarm', {
    alarm: z.literal('low-hashrate'),
    state: z.enum(ALARM_STATES),
    device: device.nullable(),
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
      .nullable()
      .describe('lines of YAML for the node’s configuration, where they would help'),
  }),
  line('missed-cut', { source, chain: count }),
  line('polling', { source, chains: PolledChains }),
  line('relay', { relay: z.string(), ...relayReport }),
  line('start', { ...setupFields, devices: z.array(device).describe('those that are opened next') }),
  line('hashrate', {
    hashesPerSecond: rate,
    devices: z.record(z.string(), DeviceStatus.pick({ hashesPerSecond: true, sensors: true, hashesPerJoule: true })),
  }),
  line('summary', Summary.shape),
]);
export type JsonLine = z.infer<typeof JsonLine>;

const FIELDS: ReadonlyMap<string, readonly string[]> = new Map(
  JsonLine.options.map(({ shape: { timeMillis: _, ...shape } }) => [shape.type.value, Object.keys(shape)]),
);
