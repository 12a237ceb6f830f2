/**
 * The lines of `--json`, for programs that run pickaxe. Each line is a JSON object. The first line has the setup, and
 * the last line the summary. In between, there are lines for most types of events, and every 10 seconds a line with the
 * hashrate.
 */

import { z } from 'zod';
import { type Clock, wallMs } from '../../base/system/clock.ts';
import { jsonText } from '../../base/text/plain-text.ts';
import type { MinerEvent } from '../../miner/events/events.ts';
import { ALARM_STATES, SOURCE_KINDS, SOURCE_NEWS, STALE_REASONS } from '../../miner/events/vocabulary.ts';
import { reportedSetup, type Setup } from '../running-miner.ts';
import { inService } from '../status/figures.ts';
import {
  acceptedBlock,
  amount,
  blockState,
  count,
  deviceFault,
  millis,
  newDeviceState,
  nonce,
  outcome,
  paidTo,
  provenCoins,
  rate,
} from '../status/shapes.ts';
import { workerStatus } from '../status/source-stats.ts';
import {
  DeviceStatus,
  PolledChains,
  type RigStatus,
  relayReport,
  Summary,
  setupFields,
  Work,
} from '../status/status.ts';

/**
 * Types of events without lines. The first four come too often. Rates and readings of sensors are in `hashrate` lines,
 * and the totals of hashes and proofs are in the `summary` line. The other four describe the sending of a block, whose
 * outcome is in `verdict` and `block-state` lines.
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

  /** @param write writes a line, which ends with a line break */
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

  /** Writes a line: the type, the time, and the other fields in the schema's order. */
  #line(line: Untimed<JsonLine>): void {
    const known: Readonly<Record<string, unknown>> = line;
    const { type, ...fields } = Object.fromEntries(FIELDS.get(line.type)!.map((name) => [name, known[name]]));
    this.#write(`${jsonText({ type, timeMillis: wallMs(this.#clock), ...fields })}\n`);
  }
}

function isPrinted(event: MinerEvent): event is Printed {
  return !(UNPRINTED as readonly string[]).includes(event.type);
}

/**
 * The type of an event's value in a line. A nonce becomes a decimal text, other bigints (heights and times) become
 * numbers, bytes become hex digits, and an absent value becomes null.
 */
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

/* The shapes of the lines. Null stands for a value that is not known or does not apply. */

const device = z.string();
const source = z.string().describe('its URL, the address that parents connect to, or a coordinator’s name');
const { chain, height, difficulty, shareDifficulty } = Work.shape;
const block = { chain, height };

const solution = {
  device: z.string().describe('or the relay'),
  isRelay: z.boolean(),
  ...block,
  nonce,
  isBlock: z.boolean(),
  isShare: z.boolean().describe('both are possible'),
  difficulty: amount.describe('of its target'),
};

const isEarlier = z.boolean().describe('whether an earlier run found it');

/** @param when for people: when the line is printed, such as `every 10 seconds` */
function line<Type extends string, Fields extends z.ZodRawShape>(type: Type, when: string, fields: Fields) {
  return z.object({ type: z.literal(type), timeMillis: millis, ...fields }).describe(when);
}

const { kind, description, model, kernel, cores, bus, reason } = DeviceStatus.shape;

export const JsonLine = z.discriminatedUnion('type', [
  line('start', 'the first line', { ...setupFields, devices: z.array(device).describe('those opened next') }),
  line('device', 'a device enters or leaves service', {
    device,
    kind,
    state: newDeviceState,
    description,
    detail: z.string().nullable().describe('while ready: why this kernel and these threads'),
    model,
    kernel,
    cores,
    bus,
    reason,
    fault: deviceFault.nullable(),
  }),
  line('progress', 'opening a device takes seconds', {
    device,
    what: z.string(),
    done: z.number().min(0).max(1).describe('0 to 1'),
  }),
  line('work', 'the devices get new work', {
    ...block,
    networkCode: count.nullable().describe('the network’s number in the header: 5 is mainnet01'),
    difficulty,
    shareDifficulty,
  }),
  line('job', 'the work gets a later creation time', { ...block, creationTimeMicros: count }),
  line('new-cut', 'a new block makes the work stale', { chain: count }),
  line('work-ended', 'the work ends for another reason: nothing is searched until the next `work`', {
    chain: count,
    reason: z
      .enum(STALE_REASONS)
      .exclude(['new-cut'])
      .describe('`solved`; `expired`: the source no longer knows it; `cancelled` by the source'),
  }),
  line('job-switch', 'a device starts the work that followed a New Cut', {
    device,
    switchSeconds: amount.describe('since the New Cut was known'),
  }),
  line('solution', 'a solution is about to be sent', {
    ...solution,
    hash: z
      .string()
      .regex(/^[0-9a-f]{64}$/)
      .describe('64 hex digits, little-endian'),
  }),
  line('verdict', 'the outcome of a solution is known', {
    outcome,
    reason: z.string().describe('empty if accepted'),
    ...solution,
    answerSeconds: amount.describe('since it was found'),
  }),
  line('block-state', 'a block is recorded or changes its state', {
    ...acceptedBlock,
    state: blockState,
    previous: blockState.nullable().describe('the state before'),
    isEarlier,
    depth: count.describe('blocks on top of it, or of the one in its place'),
    nodesDisagree: z.boolean(),
    settledDepth: count.describe('at which it is settled'),
    settledInSeconds: amount.nullable().describe('about how long that takes; while it is won'),
    reward: provenCoins.nullable(),
    fees: provenCoins.nullable(),
    paidTo: paidTo.nullable(),
    reason: z.string(),
  }),
  line('block-reward', 'a reward is proven late or misreported, or a block pays another account', {
    ...acceptedBlock,
    reward: provenCoins.nullable(),
    fees: provenCoins.nullable(),
    fault: z.string().nullable().describe('what a node misreported'),
    paidTo: paidTo.nullable(),
    account: z.string().nullable().describe('yours; with `paidTo`'),
    source: source.nullable().describe('the node that gave the work; with `paidTo`'),
    isEarlier,
  }),
  line('hardware-error', 'a device reported a wrong candidate', { device, nonce }),
  line('alarm', 'a hashrate is too low, or is back', {
    alarm: z.literal('low-hashrate'),
    state: z.enum(ALARM_STATES),
    device: device.nullable().describe('null for the whole rig'),
    hashesPerSecond: rate,
    limitHashesPerSecond: rate,
  }),
  line('source', 'there is news of a source of work', {
    source,
    kind: z.enum(SOURCE_KINDS),
    state: z
      .enum(SOURCE_NEWS)
      .describe(
        '`connected`; `lost`; `standby`: a pool not needed now; `unhealthy`: it has a fault; `healthy`: that is over; `warning`; `info`',
      ),
    reason: z.string(),
    nodeConfiguration: z.array(z.string()).nullable().describe('lines of YAML for the node’s configuration'),
  }),
  line('missed-cut', 'an open update stream did not announce a block that a fetch returned', {
    source,
    chain: count,
  }),
  line('polling', 'the set of polled chains changes', { source, chains: PolledChains }),
  line('relay', 'every few seconds, for each relay', {
    relay: z.string().describe('`stratum`, `external-worker`, `fleet`, `simulated`'),
    ...relayReport,
  }),
  line('hashrate', 'every 10 seconds', {
    hashesPerSecond: rate.describe('the sum'),
    devices: z
      .record(z.string(), DeviceStatus.pick({ hashesPerSecond: true, sensors: true, hashesPerJoule: true }))
      .describe('by name'),
  }),
  line('summary', 'the last line', Summary.shape),
]);
export type JsonLine = z.infer<typeof JsonLine>;

const FIELDS: ReadonlyMap<string, readonly string[]> = new Map(
  JsonLine.options.map(({ shape: { timeMillis: _, ...shape } }) => [shape.type.value, Object.keys(shape)]),
);
