/** What happened since the start, and how the rig is doing. It learns of both from events only. */

import type { MinerEvent } from '../events/events.ts';
import type { SourceKind } from '../source/vocabulary.ts';
import type { Clock } from '../system/clock.ts';
import { type DeviceNow, DeviceStats, type DeviceSummary, VerdictCounts } from './device-stats.ts';
import { EarningsEstimate, type EarningsTerms, timeToBlockSeconds } from './earnings.ts';
import { held, Latencies, Luck, Meter, type TimedFlag } from './rates.ts';
import { BlockCounts, type CurrentWork, type RigNow, type Summary } from './rig.ts';
import { rigState } from './rig-state.ts';
import { allRelays, type LastWork, RelayStats, Sources, workNow } from './source-stats.ts';

type DeviceEvent = MinerEvent & { type: 'device' };

export class Tally {
  readonly #clock: Clock;
  readonly #startMs: number;
  readonly #meter: Meter;
  readonly #luck = new Luck();
  readonly #jobSwitches = new Latencies();
  readonly #devices = new Map<string, DeviceStats>();
  /** Stands in for each device until its first event. Its rates count from then on. */
  readonly #expected: ReadonlyMap<string, DeviceStats>;
  readonly #relays: Map<string, RelayStats>;
  readonly #sources: Sources;
  readonly #verdicts = new VerdictCounts();
  readonly #blocks = new BlockCounts();
  readonly #earnings: EarningsEstimate;
  /** When mining ended. */
  #endMs: number | undefined;
  #newCuts = 0;
  #work: CurrentWork | undefined;
  #lastBlockMs: number | undefined;
  #lastShareMs: number | undefined;
  #deviceReady: TimedFlag;
  #sourceConnected: TimedFlag;

  /**
   * @param devices those that will be opened: each is `starting` until its first event
   * @param relays those that will be opened
   * @param sourceKind what the rig's work comes from
   * @param terms what an estimate of earnings needs beside events
   */
  constructor(
    clock: Clock,
    devices: readonly { readonly name: string; readonly kind: DeviceEvent['kind'] }[] = [],
    relays: readonly { readonly name: string }[] = [],
    sourceKind: SourceKind = 'node',
    terms: EarningsTerms = {},
  ) {
    this.#clock = clock;
    const nowMs = clock.monotonicMs();
    this.#startMs = nowMs;
    this.#meter = new Meter(nowMs);
    this.#earnings = new EarningsEstimate(clock, terms);
    this.#deviceReady = { value: false, sinceMs: nowMs };
    this.#sourceConnected = { value: false, sinceMs: nowMs };
    this.#expected = new Map(devices.map(({ name, kind }) => [name, new DeviceStats(nowMs, kind)]));
    this.#sources = new Sources(sourceKind);
    this.#relays = new Map(relays.map(({ name }) => [name, new RelayStats()]));
  }

  readonly listen = (event: MinerEvent): void => {
    const nowMs = this.#clock.monotonicMs();
    this.#earnings.listen(event);
    switch (event.type) {
      case 'hashes':
        this.#meter.add(event.hashes, nowMs);
        this.#device(event.device).meter.add(event.hashes, nowMs);
        this.#luck.searched(event.hashes, event.difficulty);
        break;
      case 'proof':
        this.#device(event.device).proved(event.hashes, nowMs);
        this.#luck.proved(event.difficulty);
        break;
      case 'verdict':
        this.#verdicts.add(event);
        (event.isRelay ? this.#relay(event.device) : this.#device(event.device)).verdicts.add(event);
        if (event.outcome !== 'accepted') break;
        if (event.isShare) this.#lastShareMs = nowMs;
        if (!event.isBlock) break;
        this.#lastBlockMs = nowMs;
        // Effort is the devices' own.
        if (!event.isRelay) this.#luck.accepted();
        break;
      case 'block-state':
        this.#blocks.add(event);
        break;
      case 'block-reward':
        this.#blocks.addReward(event);
        break;
      case 'relay':
        this.#relay(event.relay).heard(event, nowMs);
        break;
      case 'hardware-error':
        this.#device(event.device).hardwareErrors++;
        break;
      case 'telemetry':
        this.#device(event.device).sensed(event.telemetry, nowMs);
        break;
      case 'device':
        this.#device(event.device).heard(event);
        this.#deviceReady = held(this.#deviceReady, this.#someReady, nowMs);
        break;
      case 'job-switch':
        this.#jobSwitches.add(event.switchSeconds);
        break;
      case 'new-cut':
        this.#newCuts++;
        if (this.#work) this.#work = { ...this.#work, stale: { sinceMs: nowMs, reason: 'new-cut' } };
        break;
      case 'work-ended':
        if (this.#work) this.#work = { ...this.#work, stale: { sinceMs: nowMs, reason: event.reason } };
        break;
      case 'work':
        this.#work = workNow(event, nowMs);
        break;
      case 'source':
      case 'missed-cut':
      case 'polling':
      case 'fetch':
        this.#sources.heard(event, nowMs);
        this.#sourceConnected = held(this.#sourceConnected, this.#sources.anyConnected, nowMs);
        break;
    }
  };

  get accepted(): number {
    return this.#verdicts.blocks.accepted;
  }

  /** The last work of each chain. */
  get works(): LastWork {
    return this.#earnings.works;
  }

  /** The time by the clock on which all times of the tally are. */
  get nowMs(): number {
    return this.#clock.monotonicMs();
  }

  /** The state of each device that has ever been in service. */
  devices(): Map<string, DeviceNow> {
    const nowMs = this.#clock.monotonicMs();
    return new Map(this.#inService().map(([name, device]) => [name, device.now(nowMs)]));
  }

  now(): RigNow {
    const nowMs = this.#clock.monotonicMs();
    const known = new Map([...this.#expected, ...this.#devices]);
    const devices = new Map([...known].map(([name, device]) => [name, device.now(nowMs)]));
    const sum = (rate: (device: DeviceNow) => number) =>
      [...devices.values()].reduce((total, device) => total + rate(device), 0);
    const hashesPerSecond = sum((device) => device.hashesPerSecond);
    const work = this.#work;
    const relays = new Map([...this.#relays].map(([name, relay]) => [name, relay.now(nowMs)]));
    const basis = {
      nowMs,
      deviceReady: this.#deviceReady,
      sourceKind: this.#sources.kind,
      sourceConnected: this.#sourceConnected,
      ...(work && { work }),
      sources: this.#sources.now(),
      devices,
      relays,
    };
    const isMining = rigState(basis).name === 'mining';
    const rate = isMining ? hashesPerSecond + allRelays(relays.values()).hashesPerSecond : 0;
    // Rates last for half a minute after a rig has stopped mining.
    const earnings = isMining ? this.#earnings.now(rate, devices.values()) : {};
    const toBlock = timeToBlockSeconds(earnings);
    return {
      ...basis,
      hashesPerSecondByWindow: this.#meter.windows(nowMs),
      highestHashesPerSecond: this.#meter.highest,
      hashesPerSecond,
      provenHashesPerSecond: sum((device) => device.provenHashesPerSecond),
      effort: this.#luck.effort,
      ...(this.#lastBlockMs !== undefined && { lastBlockMs: this.#lastBlockMs }),
      ...(this.#lastShareMs !== undefined && { lastShareMs: this.#lastShareMs }),
      ...(toBlock !== undefined && { timeToBlockSeconds: toBlock }),
      ...(work?.shareDifficulty !== undefined && rate > 0 && { timeToShareSeconds: work.shareDifficulty / rate }),
      earnings,
    };
  }

  /** Mining has ended. What still ends beside it, such as a last command of a hook, does not count as uptime. */
  end(): void {
    this.#endMs = this.#clock.monotonicMs();
  }

  summary(): Summary {
    const uptimeSeconds = ((this.#endMs ?? this.#clock.monotonicMs()) - this.#startMs) / 1000;
    const hashes = this.#meter.total;
    const switchSeconds = this.#jobSwitches.spread;
    const acceptedBlocks = this.#blocks.accepted;
    const averageHashesPerSecond = uptimeSeconds > 0 ? hashes / uptimeSeconds : 0;
    const devices = [...this.#devices.values()].map((device) => device.now(this.#clock.monotonicMs()));
    return {
      ...this.#verdicts.blocks,
      shares: this.#verdicts.shares,
      ...(acceptedBlocks && { acceptedBlocks }),
      hardwareErrors: this.#sum(({ hardwareErrors }) => hardwareErrors),
      hashes,
      uptimeSeconds,
      averageHashesPerSecond,
      expectedBlocks: this.#luck.expectedBlocks,
      bestDifficulty: this.#luck.bestDifficulty,
      earnings: this.#earnings.now(averageHashesPerSecond, devices),
      newCuts: this.#newCuts,
      missedCuts: this.#sources.missedCuts,
      ...(switchSeconds && { switchSeconds }),
      devices: Object.fromEntries(this.#inService().map(([name, { summary }]) => [name, summary])),
      relays: Object.fromEntries([...this.#relays].map(([name, { summary }]) => [name, summary])),
    };
  }

  /** A device that has never worked is not counted. */
  #inService(): [string, DeviceStats][] {
    return [...this.#devices].filter(([, { worked, meter }]) => worked || meter.total > 0);
  }

  get #someReady(): boolean {
    return [...this.#devices.values()].some(({ state }) => state === 'ready');
  }

  #sum(figure: (device: DeviceSummary) => number): number {
    return [...this.#devices.values()].reduce((sum, { summary }) => sum + figure(summary), 0);
  }

  #relay(name: string): RelayStats {
    const relay = this.#relays.get(name) ?? new RelayStats();
    this.#relays.set(name, relay);
    return relay;
  }

  #device(name: string): DeviceStats {
    let device = this.#devices.get(name);
    if (!device) {
      device = new DeviceStats(this.#clock.monotonicMs());
      this.#devices.set(name, device);
    }
    return device;
  }
}
