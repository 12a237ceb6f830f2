/** Reports to wrappers what happens: one JSON object per line, in the shapes of json-line.ts. */

import type { MinerEvent } from '../events/events.ts';
import { type Clock, wallMs } from '../system/clock.ts';
import { jsonText } from '../text/json-text.ts';
import type { DeviceNow } from './device-stats.ts';
import type { JsonLine } from './json-line.ts';
import type { Setup } from './setup.ts';
import type { Summary } from './summary.ts';
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
