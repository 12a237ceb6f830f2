/** The books: what happened since the start, and each device's hashrate. Filled from events only. */

import type { Clock } from '../clock.ts';
import type { MinerEvent } from '../events/events.ts';
import type { Telemetry } from '../telemetry.ts';

/** Hashrates are averages over this long: long enough for a steady figure, short enough to show a fault. */
const WINDOW_MS = 30_000;
/** A reading older than this says nothing about now: a few times the interval between them. */
const FRESH_MS = 10_000;
/** Hash counts are kept in steps of this length. */
const STEP_MS = 500;

export interface Summary {
  readonly accepted: number;
  readonly rejected: number;
  readonly stale: number;
  /** Solutions whose answer was lost. */
  readonly unknown: number;
  readonly hardware_errors: number;
  /** All nonces searched. */
  readonly hashes: number;
  readonly seconds: number;
  /** Average over the whole run, H/s. */
  readonly hashrate: number;
  /** The same of each device, by its name. */
  readonly devices: Readonly<Record<string, DeviceSummary>>;
}

/** One device's books. */
export interface DeviceSummary {
  readonly hashes: number;
  readonly accepted: number;
  readonly rejected: number;
  readonly stale: number;
  readonly unknown: number;
  readonly hardware_errors: number;
  readonly restarts: number;
}

/** How a device is doing. */
export interface DeviceNow {
  /** H/s */
  readonly hashrate: number;
  /** What its sensors said last; empty when that is old, or when it has none. */
  readonly telemetry: Telemetry;
  /** Hashes for a joule, where its power is known. */
  readonly hashes_per_joule?: number;
}

class Meter {
  total = 0;
  /** `[end of step, hashes in it]`, oldest first. */
  readonly #steps: [number, number][] = [];

  add(hashes: number, nowMs: number): void {
    this.total += hashes;
    const last = this.#steps.at(-1);
    if (last && nowMs < last[0]) last[1] += hashes;
    else this.#steps.push([nowMs + STEP_MS, hashes]);
    while (this.#steps[0][0] < nowMs - WINDOW_MS) this.#steps.shift();
  }

  /** H/s over the window, or since the start while that is shorter. */
  rate(nowMs: number, startMs: number): number {
    const from = Math.max(startMs, nowMs - WINDOW_MS);
    const hashes = this.#steps.reduce((sum, [endMs, count]) => (endMs > from ? sum + count : sum), 0);
    return nowMs > from ? (1000 * hashes) / (nowMs - from) : 0;
  }
}

class Device {
  readonly meter = new Meter();
  readonly sinceMs: number;
  readonly verdicts = { accepted: 0, rejected: 0, stale: 0, unknown: 0 };
  hardwareErrors = 0;
  restarts = 0;
  telemetry: Telemetry = {};
  telemetryMs = Number.NEGATIVE_INFINITY;

  constructor(sinceMs: number) {
    this.sinceMs = sinceMs;
  }

  now(nowMs: number): DeviceNow {
    const hashrate = this.meter.rate(nowMs, this.sinceMs);
    const telemetry = nowMs - this.telemetryMs < FRESH_MS ? this.telemetry : {};
    const { powerW } = telemetry;
    return { hashrate, telemetry, ...(powerW && { hashes_per_joule: hashrate / powerW }) };
  }

  get summary(): DeviceSummary {
    const { meter, verdicts, hardwareErrors: hardware_errors, restarts } = this;
    return { hashes: meter.total, ...verdicts, hardware_errors, restarts };
  }
}

export class Tally {
  readonly #clock: Clock;
  readonly #startMs: number;
  readonly #devices = new Map<string, Device>();

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#startMs = clock.monotonicMs();
  }

  readonly listen = (event: MinerEvent): void => {
    switch (event.event) {
      case 'hashes':
        this.#device(event.device).meter.add(event.hashes, this.#clock.monotonicMs());
        break;
      case 'verdict':
        this.#device(event.device).verdicts[event.verdict]++;
        break;
      case 'hardware_error':
        this.#device(event.device).hardwareErrors++;
        break;
      case 'telemetry':
        Object.assign(this.#device(event.device), {
          telemetry: event.telemetry,
          telemetryMs: this.#clock.monotonicMs(),
        });
        break;
      case 'device':
        // One that never works is not in the books.
        if (event.state === 'ready') this.#device(event.device);
        if (event.state === 'restarting' && this.#devices.has(event.device)) this.#device(event.device).restarts++;
        break;
    }
  };

  get accepted(): number {
    return this.#sum(({ accepted }) => accepted);
  }

  /** How each device that came into service is doing. */
  devices(): Map<string, DeviceNow> {
    const nowMs = this.#clock.monotonicMs();
    return new Map([...this.#devices].map(([name, device]) => [name, device.now(nowMs)]));
  }

  summary(): Summary {
    const seconds = (this.#clock.monotonicMs() - this.#startMs) / 1000;
    const hashes = this.#sum((device) => device.hashes);
    return {
      accepted: this.accepted,
      rejected: this.#sum(({ rejected }) => rejected),
      stale: this.#sum(({ stale }) => stale),
      unknown: this.#sum(({ unknown }) => unknown),
      hardware_errors: this.#sum(({ hardware_errors }) => hardware_errors),
      hashes,
      seconds,
      hashrate: seconds > 0 ? hashes / seconds : 0,
      devices: Object.fromEntries([...this.#devices].map(([name, { summary }]) => [name, summary])),
    };
  }

  #sum(figure: (device: DeviceSummary) => number): number {
    return [...this.#devices.values()].reduce((sum, { summary }) => sum + figure(summary), 0);
  }

  #device(name: string): Device {
    let device = this.#devices.get(name);
    if (!device) {
      device = new Device(this.#clock.monotonicMs());
      this.#devices.set(name, device);
    }
    return device;
  }
}
