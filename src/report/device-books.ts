/** One device's books, and how it is doing. */

import type { Telemetry } from '../engine/telemetry.ts';
import type { MinerEvent } from '../events/events.ts';
import { Meter, type Windows } from './meter.ts';
import { ProofBooks, type Proven } from './proven.ts';

/** The hashrate is an average over this long: long enough for a steady figure, short enough to show a fault. */
const RATE_MS = 30_000;
/** A reading older than this says nothing about now: a few times the interval between them. */
const FRESH_MS = 10_000;

type DeviceEvent = MinerEvent & { event: 'device' };
type Verdict = (MinerEvent & { event: 'verdict' })['verdict'];

/** What a device did since the start. */
export interface DeviceSummary {
  readonly hashes: number;
  readonly accepted: number;
  readonly rejected: number;
  readonly stale: number;
  readonly unknown: number;
  readonly hardware_errors: number;
  readonly restarts: number;
  /** Of its hashes, what verified candidates prove. Left out before the first one. */
  readonly proven?: Proven;
}

/** How a device is doing. */
export interface DeviceNow {
  readonly kind: 'cpu' | 'gpu';
  /** `starting` until it is first heard of. */
  readonly state: DeviceEvent['state'] | 'starting';
  /** Model, kernel, thread count: one line for people. */
  readonly description: string;
  /** PCI address of a card, like `0000:65:00.0`, where it is known. */
  readonly bus?: string;
  /** Why it does not work, when it does not. */
  readonly reason?: string;
  /** For how long it has hashed: since its first hashes, rests included. */
  readonly hashingSeconds: number;
  /** H/s over half a minute. */
  readonly hashrate: number;
  readonly windows: Windows;
  /** The highest of its rates over 10 s, H/s. */
  readonly highest: number | null;
  /** What its sensors said last; empty when that is old, or when it has none. */
  readonly telemetry: Telemetry;
  /** Hashes for a joule, where its power is known. */
  readonly hashes_per_joule?: number;
}

export class DeviceBooks {
  readonly meter: Meter;
  readonly #proofs = new ProofBooks();
  readonly #verdicts = { accepted: 0, rejected: 0, stale: 0, unknown: 0 };
  hardwareErrors = 0;
  /** Whether it has ever been in service. */
  worked = false;
  #restarts = 0;
  #last: DeviceEvent | undefined;
  #telemetry: Telemetry = {};
  #telemetryMs = Number.NEGATIVE_INFINITY;

  constructor(nowMs: number) {
    this.meter = new Meter(nowMs);
  }

  heard(event: DeviceEvent): void {
    this.#last = event;
    if (event.state === 'ready') this.worked = true;
    if (event.state === 'restarting' && this.worked) this.#restarts++;
  }

  judged(verdict: Verdict): void {
    this.#verdicts[verdict]++;
  }

  proved(hashes: number): void {
    this.#proofs.add(hashes);
  }

  sensed(telemetry: Telemetry, nowMs: number): void {
    this.#telemetry = telemetry;
    this.#telemetryMs = nowMs;
  }

  now(nowMs: number): DeviceNow {
    const { kind = 'cpu', state = 'starting', description = '', bus, reason } = this.#last ?? {};
    const hashrate = this.meter.rate(nowMs, RATE_MS);
    const telemetry = nowMs - this.#telemetryMs < FRESH_MS ? this.#telemetry : {};
    const { powerW } = telemetry;
    return {
      kind,
      state,
      description,
      ...(bus !== undefined && { bus }),
      ...(reason !== undefined && { reason }),
      hashingSeconds: this.meter.firstMs === null ? 0 : (nowMs - this.meter.firstMs) / 1000,
      hashrate,
      windows: this.meter.windows(nowMs),
      highest: this.meter.highest,
      telemetry,
      ...(powerW && { hashes_per_joule: hashrate / powerW }),
    };
  }

  get summary(): DeviceSummary {
    const { proven } = this.#proofs;
    return {
      hashes: this.meter.total,
      ...this.#verdicts,
      hardware_errors: this.hardwareErrors,
      restarts: this.#restarts,
      ...(proven && { proven }),
    };
  }
}
