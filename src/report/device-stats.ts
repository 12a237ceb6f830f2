/** What one device did, and how it is doing. */

import type { Telemetry } from '../engine/telemetry.ts';
import type { DeviceState } from '../events/device-states.ts';
import type { MinerEvent } from '../events/events.ts';
import { Meter, type RatesByWindow } from './meter.ts';
import { ProofStats, type Proven } from './proven.ts';

/** The hashrate is an average over this long: long enough for a steady figure, short enough to show a fault. */
const RATE_MS = 30_000;
/** A reading older than this says nothing about now: a few times the interval between them. */
const FRESH_MS = 10_000;

type DeviceEvent = MinerEvent & { event: 'device' };
type DeviceKind = DeviceEvent['kind'];
type Verdict = (MinerEvent & { event: 'verdict' })['verdict'];

/** What a device did since the start. */
export interface DeviceSummary {
  readonly hashes: number;
  readonly accepted: number;
  readonly rejected: number;
  readonly stale: number;
  readonly unknown: number;
  readonly hardware_errors: number;
  /** How often it failed and had to be opened again. */
  readonly restarts: number;
  /** How many of its hashes verified candidates prove. Absent before the first candidate. */
  readonly proven?: Proven;
}

/** How a device is doing. */
export interface DeviceNow {
  readonly kind: DeviceKind;
  readonly state: DeviceState;
  /** Model, kernel, thread count: one line for people. */
  readonly description: string;
  /** PCI address of a card, like `0000:65:00.0`, where it is known. */
  readonly bus?: string;
  /** Why it does not work, when it does not. */
  readonly reason?: string;
  /** How long ago it reported its first hashes, pauses included. */
  readonly hashingSeconds: number;
  /** H/s over half a minute. */
  readonly hashrate: number;
  readonly windows: RatesByWindow;
  /** The highest of its rates over 10 s, H/s. */
  readonly highest: number | null;
  /** What its sensors said last; empty when that is old, or when it has no sensors. */
  readonly telemetry: Telemetry;
  /** Hashes per joule, where its power is known. */
  readonly hashes_per_joule?: number;
}

export class DeviceStats {
  readonly meter: Meter;
  readonly #proofs = new ProofStats();
  readonly #verdicts = { accepted: 0, rejected: 0, stale: 0, unknown: 0 };
  hardwareErrors = 0;
  /** Whether it has ever been in service. */
  worked = false;
  readonly #kind: DeviceKind;
  #reopens = 0;
  #last: DeviceEvent | undefined;
  #telemetry: Telemetry = {};
  #telemetryMs = Number.NEGATIVE_INFINITY;

  constructor(nowMs: number, kind: DeviceKind = 'cpu') {
    this.meter = new Meter(nowMs);
    this.#kind = kind;
  }

  heard(event: DeviceEvent): void {
    this.#last = event;
    if (event.state === 'ready') this.worked = true;
    if (event.state === 'restarting' && this.worked) this.#reopens++;
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

  get state(): DeviceState {
    return this.#last?.state ?? 'starting';
  }

  now(nowMs: number): DeviceNow {
    const { kind = this.#kind, description = '', bus, reason } = this.#last ?? {};
    const hashrate = this.meter.rate(nowMs, RATE_MS);
    const telemetry = nowMs - this.#telemetryMs < FRESH_MS ? this.#telemetry : {};
    const { powerW } = telemetry;
    return {
      kind,
      state: this.state,
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
      restarts: this.#reopens,
      ...(proven && { proven }),
    };
  }
}
