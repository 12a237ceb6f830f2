/** The counts, hashrates and sensor readings of a device. */

import { TELEMETRY_FIELDS, type Telemetry } from '../../miner/engine/device.ts';
import type { MinerEvent } from '../../miner/events/events.ts';
import type { DeviceState } from '../../miner/events/vocabulary.ts';
import { Meter, ProofStats, VerdictCounts } from './counters.ts';
import type { DeviceCounts, DeviceStatus, Sensors } from './status.ts';

/** Time over which the hashrate is averaged: long enough for a steady figure, short enough to show a fault soon. */
const RATE_MS = 30_000;
/** Maximum age of readings. Older ones count as unknown. Usually, new readings come every few seconds. */
const FRESH_MS = 10_000;
/**
 * Time over which the proven hashrate is averaged. In this time, a few candidates per second make the rate exact to a
 * few percent.
 */
const PROVEN_RATE_MS = 900_000;

type DeviceEvent = MinerEvent & { type: 'device' };

export class DeviceStats {
  readonly meter: Meter;
  readonly #proofs = new ProofStats();
  readonly #provenMeter: Meter;
  readonly verdicts = new VerdictCounts();
  hardwareErrors = 0;
  readonly #kind: DeviceEvent['kind'];
  #wasReady = false;
  #reopens = 0;
  #last: DeviceEvent | undefined;
  #telemetry: Telemetry = {};
  #telemetryMs = Number.NEGATIVE_INFINITY;

  constructor(nowMs: number, kind: DeviceEvent['kind'] = 'cpu') {
    this.meter = new Meter(nowMs);
    this.#provenMeter = new Meter(nowMs);
    this.#kind = kind;
  }

  update(event: DeviceEvent): void {
    this.#last = event;
    if (event.state === 'ready') this.#wasReady = true;
    if (event.state === 'reopening' && this.#wasReady) this.#reopens++;
  }

  addProof(hashes: number, nowMs: number): void {
    this.#proofs.add(hashes);
    this.#provenMeter.add(hashes, nowMs);
  }

  addReading(telemetry: Telemetry, nowMs: number): void {
    this.#telemetry = telemetry;
    this.#telemetryMs = nowMs;
  }

  get state(): DeviceState {
    return this.#last?.state ?? 'starting';
  }

  get hasWorked(): boolean {
    return this.#wasReady || this.meter.total > 0;
  }

  get counts(): DeviceCounts {
    return {
      ...this.verdicts.blocks,
      shares: this.verdicts.shares,
      hardwareErrors: this.hardwareErrors,
      hashes: this.meter.total,
      reopens: this.#reopens,
      proven: this.#proofs.proven,
    };
  }

  status(nowMs: number): DeviceStatus {
    const { meter } = this;
    const { kind = this.#kind, description = '', model, kernel, cores, bus, reason } = this.#last ?? {};
    const hashesPerSecond = meter.rate(nowMs, RATE_MS);
    const sensors = sensorsOf(nowMs - this.#telemetryMs < FRESH_MS ? this.#telemetry : {});
    return {
      kind,
      state: this.state,
      description,
      model: model ?? null,
      kernel: kernel ?? null,
      cores: cores ? [...cores] : null,
      bus: bus ?? null,
      reason: reason ?? null,
      hasWorked: this.hasWorked,
      hashingSeconds: meter.firstMs === null ? null : (nowMs - meter.firstMs) / 1000,
      hashesPerSecond,
      hashesPerSecondByWindow: meter.windows(nowMs),
      highestHashesPerSecond: meter.highest,
      ...this.counts,
      provenHashesPerSecond: this.#provenMeter.rate(nowMs, PROVEN_RATE_MS),
      sensors,
      hashesPerJoule: sensors.powerWatts ? hashesPerSecond / sensors.powerWatts : null,
    };
  }
}

function sensorsOf(telemetry: Telemetry): Sensors {
  return Object.fromEntries(TELEMETRY_FIELDS.map((field) => [field, telemetry[field] ?? null])) as Sensors;
}
