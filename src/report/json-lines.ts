/**
 * Events for wrappers: one JSON object per line, `{"event": NAME, "time": …, …}`. Names and fields are stable, and
 * documented in docs/wrappers.md. `time` is milliseconds since the UNIX epoch; nonces are decimal strings (they exceed what
 * JSON numbers carry), hashes 64 hex digits in wire order (little-endian), rates H/s.
 */

import type { MinerEvent } from '../events/events.ts';
import { type Clock, wallMs } from '../system/clock.ts';
import type { Summary, Tally } from './tally.ts';

export class JsonLines {
  readonly #write: (line: string) => void;
  readonly #clock: Clock;

  /** @param write takes one line, newline included */
  constructor(write: (line: string) => void, clock: Clock) {
    this.#write = write;
    this.#clock = clock;
  }

  readonly listen = (event: MinerEvent): void => {
    // These come up to many times a second. `hashrate` and `summary` carry their sums and last values.
    if (event.event === 'hashes' || event.event === 'proof' || event.event === 'telemetry') return;
    const { event: name, ...fields } = event;
    this.#line(name, fields);
  };

  hashrate(tally: Tally): void {
    const all = [...tally.devices()];
    const devices = Object.fromEntries(all.map(([name, { hashrate }]) => [name, hashrate]));
    const total = Object.values(devices).reduce((sum, rate) => sum + rate, 0);
    const sensors = Object.fromEntries(
      all
        .filter(([, { telemetry }]) => Object.keys(telemetry).length > 0)
        .map(([name, { telemetry, hashes_per_joule }]) => [
          name,
          { ...telemetry, ...(hashes_per_joule && { hashes_per_joule }) },
        ]),
    );
    this.#line('hashrate', { devices, total, sensors });
  }

  summary(summary: Summary): void {
    this.#line('summary', summary);
  }

  #line(event: string, fields: object): void {
    this.#write(`${JSON.stringify({ event, time: wallMs(this.#clock), ...fields }, plain)}\n`);
  }
}

/** Heights and times are numbers, which they fit; nonces decimal strings; hashes hex. */
function plain(key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return key === 'nonce' ? value.toString() : Number(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  return value;
}
