/** What one device did, and how it is doing. */

import type { CoreInfo, Telemetry } from '../engine/device.ts';
import type { MinerEvent } from '../events/events.ts';
import type { DeviceState } from '../events/vocabulary.ts';
import { OUTCOMES, type Outcome } from '../source/vocabulary.ts';
import { Meter, ProofStats, type Proven, type RatesByWindow } from './rates.ts';

/** The hashrate is an average over this long: long enough for a steady figure, short enough to show a fault. */
const RATE_MS = 30_000;
/** A reading older than this says nothing about now: a few times the interval between them. */
const FRESH_MS = 10_000;
/** A few candidates per second make the proven rate exact within a few percent in this time. */
const PROVEN_RATE_MS = 900_000;

type DeviceEvent = MinerEvent & { type: 'device' };
type DeviceKind = DeviceEvent['kind'];

/** What a device did since the start. Its outcomes are those of blocks. */
export interface DeviceSummary extends OutcomeCounts {
  readonly hashes: number;
  readonly shares: ShareCounts;
  readonly hardwareErrors: number;
  /** How often it failed and had to be opened again. */
  readonly reopens: number;
  /** How many of its hashes verified candidates prove. Absent before the first candidate. */
  readonly proven?: Proven;
}

/** How a device is doing. */
export interface DeviceNow {
  readonly kind: DeviceKind;
  readonly state: DeviceState;
  /** Model, kernel, thread count: one line for people. */
  readonly description: string;
  /** The chip's model and the kernel in use. Absent before the device has been opened for the first time. */
  readonly model?: string;
  readonly kernel?: string;
  /** The kinds of a hybrid CPU's cores; absent where all cores are alike. */
  readonly cores?: readonly CoreInfo[];
  /** PCI address of a card, like `0000:65:00.0`, where it is known. */
  readonly bus?: string;
  /** Why it does not work, when it does not. */
  readonly reason?: string;
  /** How long ago it reported its first hashes, pauses included. */
  readonly hashingSeconds: number;
  /** Over half a minute. */
  readonly hashesPerSecond: number;
  readonly hashesPerSecondByWindow: RatesByWindow;
  /** The highest of its rates over 10 s. */
  readonly highestHashesPerSecond: number | null;
  /**
   * How many hashes per second its verified candidates prove, over a quarter of an hour or since it came into service.
   */
  readonly provenHashesPerSecond: number;
  /** What its sensors said last; empty when that is old, or when it has no sensors. */
  readonly telemetry: Telemetry;
  /** Absent where its power is not known. */
  readonly hashesPerJoule?: number;
}

export class DeviceStats {
  readonly meter: Meter;
  readonly #proofs = new ProofStats();
  readonly #provenMeter: Meter;
  readonly verdicts = new VerdictCounts();
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
    this.#provenMeter = new Meter(nowMs);
    this.#kind = kind;
  }

  heard(event: DeviceEvent): void {
    this.#last = event;
    if (event.state === 'ready') this.worked = true;
    if (event.state === 'reopening' && this.worked) this.#reopens++;
  }

  proved(hashes: number, nowMs: number): void {
    this.#proofs.add(hashes);
    this.#provenMeter.add(hashes, nowMs);
  }

  sensed(telemetry: Telemetry, nowMs: number): void {
    this.#telemetry = telemetry;
    this.#telemetryMs = nowMs;
  }

  get state(): DeviceState {
    return this.#last?.state ?? 'starting';
  }

  now(nowMs: number): DeviceNow {
    const { kind = this.#kind, description = '', model, kernel, cores, bus, reason } = this.#last ?? {};
    const hashesPerSecond = this.meter.rate(nowMs, RATE_MS);
    const telemetry = nowMs - this.#telemetryMs < FRESH_MS ? this.#telemetry : {};
    const { powerWatts } = telemetry;
    return {
      kind,
      state: this.state,
      description,
      ...(model !== undefined && { model }),
      ...(kernel !== undefined && { kernel }),
      ...(cores && { cores }),
      ...(bus !== undefined && { bus }),
      ...(reason !== undefined && { reason }),
      hashingSeconds: this.meter.firstMs === null ? 0 : (nowMs - this.meter.firstMs) / 1000,
      hashesPerSecond,
      hashesPerSecondByWindow: this.meter.windows(nowMs),
      highestHashesPerSecond: this.meter.highest,
      provenHashesPerSecond: this.#provenMeter.rate(nowMs, PROVEN_RATE_MS),
      telemetry,
      ...(powerWatts && { hashesPerJoule: hashesPerSecond / powerWatts }),
    };
  }

  get summary(): DeviceSummary {
    const { proven } = this.#proofs;
    return {
      hashes: this.meter.total,
      ...this.verdicts.blocks,
      shares: this.verdicts.shares,
      hardwareErrors: this.hardwareErrors,
      reopens: this.#reopens,
      ...(proven && { proven }),
    };
  }
}

/*
 * Counts verdicts: of blocks, and of shares, which a pool takes as proofs of work. A share that is a block counts as
 * both.
 */

/** How many solutions had each outcome. */
export type OutcomeCounts = Readonly<Record<Outcome, number>>;

export type ShareCounts = OutcomeCounts & {
  /** How many hashes the accepted shares stand for: the sum of their works' difficulties. */
  readonly acceptedHashes: number;
};

export class VerdictCounts {
  readonly #blocks = none();
  readonly #shares = none();
  #acceptedHashes = 0;

  add({ outcome, isBlock, isShare, difficulty }: MinerEvent & { type: 'verdict' }): void {
    if (isBlock) this.#blocks[outcome]++;
    if (!isShare) return;
    this.#shares[outcome]++;
    if (outcome === 'accepted') this.#acceptedHashes += difficulty;
  }

  get blocks(): OutcomeCounts {
    return { ...this.#blocks };
  }

  get shares(): ShareCounts {
    return { ...this.#shares, acceptedHashes: this.#acceptedHashes };
  }
}

function none(): Record<Outcome, number> {
  return Object.fromEntries(OUTCOMES.map((outcome) => [outcome, 0])) as Record<Outcome, number>;
}
