/** Counts a run's events, and computes the run's status and summary from the counts. */

import { type Clock, wallMs } from '../../base/system/clock.ts';
import type { DeviceKind } from '../../miner/engine/device.ts';
import type { MinerEvent } from '../../miner/events/events.ts';
import type { SourceKind } from '../../miner/events/vocabulary.ts';
import { BlockCounts, Latencies, Luck, Meter, type TimedFlag, VerdictCounts, withValue } from './counters.ts';
import { EarningsEstimate, type EarningsTerms, earningsOf, timeToBlockSeconds } from './earnings.ts';
import { sumOfRelays } from './figures.ts';
import { DeviceStats } from './hashrates.ts';
import { type CurrentWork, type StateBasis, type StateStatus, stateStatus, supplyTrouble } from './rig-state.ts';
import { RelayStats, Sources, workStatus } from './source-stats.ts';
import type { DeviceStatus, RigStatus, Summary } from './status.ts';

const NO_EARNINGS = earningsOf({ hashesPerSecond: 0, chains: [] });

export class Tally {
  readonly #clock: Clock;
  readonly #startMs: number;
  readonly #startTimeMillis: number;
  readonly #meter: Meter;
  readonly #luck = new Luck();
  readonly #jobSwitches = new Latencies();
  readonly #answers = new Latencies();
  readonly #devices = new Map<string, DeviceStats>();
  /**
   * Stats of each device until the device's first event. Then new stats in `#devices` take their place, so that the
   * device's rates are averages over the time since that event.
   */
  readonly #expected: ReadonlyMap<string, DeviceStats>;
  readonly #relays: Map<string, RelayStats>;
  readonly #sources: Sources;
  readonly #verdicts = new VerdictCounts();
  readonly #blocks = new BlockCounts();
  readonly #earnings: EarningsEstimate;
  /** End of mining, in ms of the clock's `monotonicMs`; undefined until mining has ended. */
  #endMs: number | undefined;
  #newCuts = 0;
  #work: CurrentWork | undefined;
  #lastBlockMs: number | undefined;
  #lastShareMs: number | undefined;
  #deviceReady: TimedFlag;
  #sourceConnected: TimedFlag;

  /**
   * @param devices the devices that will be opened; each is `starting` until its first event
   * @param relays the relays that will be opened
   * @param sourceKind the kind of source that the status contains until the first event of a source
   */
  constructor(
    clock: Clock,
    devices: readonly { readonly name: string; readonly kind: DeviceKind }[] = [],
    relays: readonly { readonly name: string }[] = [],
    sourceKind: SourceKind = 'node',
    terms: EarningsTerms = {},
  ) {
    this.#clock = clock;
    const nowMs = clock.monotonicMs();
    this.#startMs = nowMs;
    this.#startTimeMillis = wallMs(clock);
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
        this.#device(event.device).addProof(event.hashes, nowMs);
        this.#luck.proved(event.difficulty);
        break;
      case 'verdict':
        this.#verdicts.add(event);
        this.#answers.add(event.answerSeconds);
        (event.isRelay ? this.#relay(event.device) : this.#device(event.device)).verdicts.add(event);
        if (event.outcome !== 'accepted') break;
        if (event.isShare) this.#lastShareMs = nowMs;
        if (!event.isBlock) break;
        this.#lastBlockMs = nowMs;
        // Effort measures the work of devices, so a block of a relay does not reset it.
        if (!event.isRelay) this.#luck.accepted();
        break;
      case 'block-state':
        this.#blocks.add(event);
        break;
      case 'block-reward':
        this.#blocks.addReward(event);
        break;
      case 'relay':
        this.#relay(event.relay).update(event, nowMs);
        break;
      case 'hardware-error':
        this.#device(event.device).hardwareErrors++;
        break;
      case 'telemetry':
        this.#device(event.device).addReading(event.telemetry, nowMs);
        break;
      case 'device':
        this.#device(event.device).update(event);
        this.#deviceReady = withValue(this.#deviceReady, this.#someReady, nowMs);
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
        this.#work = { ...event, sinceMs: nowMs };
        break;
      case 'source':
      case 'missed-cut':
      case 'polling':
      case 'fetch':
        this.#sources.update(event, nowMs);
        this.#sourceConnected = withValue(this.#sourceConnected, this.#sources.anyConnected, nowMs);
        break;
    }
  };

  get accepted(): number {
    return this.#verdicts.blocks.accepted;
  }

  get nowMs(): number {
    return this.#clock.monotonicMs();
  }

  get sourceKind(): SourceKind {
    return this.#sources.kind;
  }

  /** Whether no source is connected, or the sources give no work. Details are at `supplyTrouble`. */
  get lacksWork(): boolean {
    return supplyTrouble(this.#basis()) !== undefined;
  }

  /** Only the state of the status, which is asked for each second. */
  state(): StateStatus {
    return stateStatus(this.#basis());
  }

  status(): RigStatus {
    const basis = this.#basis();
    const { nowMs, devices, relays, sources, work } = basis;
    const all = Object.values(devices);
    const sum = (rate: (device: DeviceStatus) => number) => all.reduce((total, device) => total + rate(device), 0);
    const hashesPerSecond = sum((device) => device.hashesPerSecond);
    const { sourceKind, ...state } = stateStatus(basis);
    const isMining = state.state === 'mining';
    // The devices' rates are averages, so they stay above 0 for half a minute after mining has stopped.
    const rate = isMining ? hashesPerSecond + sumOfRelays(relays).hashesPerSecond : 0;
    const earnings = isMining ? this.#earnings.at(rate, all) : NO_EARNINGS;
    const seconds = (sinceMs: number | undefined) => (sinceMs === undefined ? null : (nowMs - sinceMs) / 1000);
    return {
      timeMillis: wallMs(this.#clock),
      startTimeMillis: this.#startTimeMillis,
      ...state,
      paused: state.state === 'paused',
      ready: isMining,
      hashesPerSecond,
      hashesPerSecondByWindow: this.#meter.windows(nowMs),
      highestHashesPerSecond: this.#meter.highest,
      ...this.#counts(),
      provenHashesPerSecond: sum((device) => device.provenHashesPerSecond),
      effort: this.#luck.effort,
      timeToBlockSeconds: timeToBlockSeconds(earnings),
      timeToShareSeconds: work?.shareDifficulty !== undefined && rate > 0 ? work.shareDifficulty / rate : null,
      earnings,
      lastBlockSeconds: seconds(this.#lastBlockMs),
      lastShareSeconds: seconds(this.#lastShareMs),
      answerSeconds: this.#answers.spread,
      work: work ? workStatus(work, nowMs) : null,
      chains: this.#earnings.works.all().map((each) => workStatus(each, nowMs)),
      sourceKind,
      sources,
      devices,
      relays,
    };
  }

  /** Records the end of mining. The uptime excludes the time after it, such as the time that the last hooks take. */
  end(): void {
    this.#endMs = this.#clock.monotonicMs();
  }

  summary(): Summary {
    const counts = this.#counts();
    const nowMs = this.#clock.monotonicMs();
    const devices = [...this.#devices.values()].map((device) => device.status(nowMs));
    const inService = [...this.#devices].filter(([, { hasWorked }]) => hasWorked);
    return {
      ...counts,
      earnings: this.#earnings.at(counts.averageHashesPerSecond, devices),
      devices: Object.fromEntries(inService.map(([name, device]) => [name, device.counts])),
      relays: Object.fromEntries(Array.from(this.#relays, ([name, relay]) => [name, relay.counts])),
    };
  }

  #counts(): Omit<Summary, 'earnings' | 'devices' | 'relays'> {
    const uptimeSeconds = ((this.#endMs ?? this.#clock.monotonicMs()) - this.#startMs) / 1000;
    const hashes = this.#meter.total;
    return {
      ...this.#verdicts.blocks,
      shares: this.#verdicts.shares,
      acceptedBlocks: this.#blocks.accepted,
      hardwareErrors: [...this.#devices.values()].reduce((sum, { hardwareErrors }) => sum + hardwareErrors, 0),
      hashes,
      uptimeSeconds,
      averageHashesPerSecond: uptimeSeconds > 0 ? hashes / uptimeSeconds : 0,
      expectedBlocks: this.#luck.expectedBlocks,
      bestDifficulty: this.#luck.bestDifficulty,
      newCuts: this.#newCuts,
      missedCuts: this.#sources.missedCuts,
      switchSeconds: this.#jobSwitches.spread,
    };
  }

  #basis(): StateBasis {
    const nowMs = this.#clock.monotonicMs();
    const devices = new Map([...this.#expected, ...this.#devices]);
    return {
      nowMs,
      deviceReady: this.#deviceReady,
      sourceKind: this.#sources.kind,
      sourceConnected: this.#sourceConnected,
      work: this.#work,
      sources: this.#sources.status(nowMs),
      devices: Object.fromEntries(Array.from(devices, ([name, device]) => [name, device.status(nowMs)])),
      relays: Object.fromEntries(Array.from(this.#relays, ([name, relay]) => [name, relay.status(nowMs)])),
    };
  }

  get #someReady(): boolean {
    return [...this.#devices.values()].some(({ state }) => state === 'ready');
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
