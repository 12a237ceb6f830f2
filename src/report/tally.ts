/** The books: what happened since the start, and how the rig is doing. Filled from events only. */

import type { MinerEvent } from '../events/events.ts';
import type { SourceState } from '../source/vocabulary.ts';
import type { Clock } from '../system/clock.ts';
import { DeviceBooks, type DeviceNow, type DeviceSummary } from './device-books.ts';
import { Latencies, type Latency } from './latencies.ts';
import { Luck } from './luck.ts';
import { Meter, type Windows } from './meter.ts';

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
  /** Blocks that so many hashes give on average: `accepted` beside it is luck. */
  readonly expected_blocks: number;
  /** Difficulty of the best hash found; 0 before the first candidate. */
  readonly best_difficulty: number;
  readonly new_cuts: number;
  /** Blocks that an open update stream did not tell, found by fetching. */
  readonly missed_cuts: number;
  /** From hearing of a New Cut to searching the new work, of all devices. Left out before the first. */
  readonly restart_ms?: Latency;
  /** The same counts of each device, by its name. */
  readonly devices: Readonly<Record<string, DeviceSummary>>;
}

/** What is being mined. */
export interface WorkNow {
  readonly chain: number;
  readonly height: bigint;
  /** Hashes that a block takes on average. */
  readonly difficulty: number;
  readonly sinceMs: number;
}

/** One node, as last heard of. */
export interface SourceNow {
  readonly state: SourceState;
  readonly reason: string;
  /** Since when it is in this state. */
  readonly sinceMs: number;
  /** How often it went out of reach. */
  readonly losses: number;
  /** What it last warned of. */
  readonly warning?: string;
  /** Blocks that its update streams did not tell. */
  readonly missedCuts: number;
  /** The chains that it is asked about every few seconds, since their update streams cannot be relied on. */
  readonly polled: (MinerEvent & { event: 'polling' })['chains'];
}

/** How the rig is doing. Times are the clock's `monotonicMs`. */
export interface RigNow {
  readonly windows: Windows;
  readonly highest: number | null;
  /** H/s over half a minute, the sum of the devices'. */
  readonly hashrate: number;
  readonly work?: WorkNow;
  /** Work since the last accepted block, as a part of what a block takes on average. */
  readonly effort: number;
  /** When the last block was accepted; left out before the first. */
  readonly lastBlockMs?: number;
  /** Seconds that a block takes at this rate and difficulty, on average; left out while either is not known. */
  readonly secondsToBlock?: number;
  readonly sources: ReadonlyMap<string, SourceNow>;
  readonly devices: ReadonlyMap<string, DeviceNow>;
}

export class Tally {
  readonly #clock: Clock;
  readonly #startMs: number;
  readonly #meter: Meter;
  readonly #luck = new Luck();
  readonly #restarts = new Latencies();
  readonly #devices = new Map<string, DeviceBooks>();
  readonly #sources = new Map<string, SourceNow>();
  #newCuts = 0;
  #work: WorkNow | undefined;
  #lastBlockMs: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#startMs = clock.monotonicMs();
    this.#meter = new Meter(this.#startMs);
  }

  readonly listen = (event: MinerEvent): void => {
    const nowMs = this.#clock.monotonicMs();
    switch (event.event) {
      case 'hashes':
        this.#meter.add(event.hashes, nowMs);
        this.#device(event.device).meter.add(event.hashes, nowMs);
        this.#luck.searched(event.hashes, event.difficulty);
        break;
      case 'proof':
        this.#device(event.device).proved(event.hashes);
        this.#luck.proved(event.difficulty);
        break;
      case 'verdict':
        this.#device(event.device).judged(event.verdict);
        if (event.verdict !== 'accepted') break;
        this.#luck.accepted();
        this.#lastBlockMs = nowMs;
        break;
      case 'hardware_error':
        this.#device(event.device).hardwareErrors++;
        break;
      case 'telemetry':
        this.#device(event.device).sensed(event.telemetry, nowMs);
        break;
      case 'device':
        this.#device(event.device).heard(event);
        break;
      case 'restart':
        this.#restarts.add(event.ms);
        break;
      case 'new_cut':
        this.#newCuts++;
        break;
      case 'work':
        this.#work = { chain: event.chain, height: event.height, difficulty: event.difficulty, sinceMs: nowMs };
        break;
      case 'source':
        this.#hearOf(event, nowMs);
        break;
      case 'missed_cut': {
        const known = this.#source(event.source, nowMs);
        this.#sources.set(event.source, { ...known, missedCuts: known.missedCuts + 1 });
        break;
      }
      case 'polling':
        this.#sources.set(event.source, { ...this.#source(event.source, nowMs), polled: event.chains });
        break;
    }
  };

  get accepted(): number {
    return this.#sum(({ accepted }) => accepted);
  }

  /** How each device that came into service is doing. */
  devices(): Map<string, DeviceNow> {
    const nowMs = this.#clock.monotonicMs();
    return new Map(this.#inService().map(([name, device]) => [name, device.now(nowMs)]));
  }

  now(): RigNow {
    const nowMs = this.#clock.monotonicMs();
    const devices = new Map([...this.#devices].map(([name, device]) => [name, device.now(nowMs)]));
    const hashrate = [...devices.values()].reduce((sum, device) => sum + device.hashrate, 0);
    const work = this.#work;
    return {
      windows: this.#meter.windows(nowMs),
      highest: this.#meter.highest,
      hashrate,
      ...(work && { work }),
      effort: this.#luck.effort,
      ...(this.#lastBlockMs !== undefined && { lastBlockMs: this.#lastBlockMs }),
      ...(work && hashrate > 0 && { secondsToBlock: work.difficulty / hashrate }),
      sources: new Map(this.#sources),
      devices,
    };
  }

  summary(): Summary {
    const seconds = (this.#clock.monotonicMs() - this.#startMs) / 1000;
    const hashes = this.#meter.total;
    const restart_ms = this.#restarts.spread;
    return {
      accepted: this.accepted,
      rejected: this.#sum(({ rejected }) => rejected),
      stale: this.#sum(({ stale }) => stale),
      unknown: this.#sum(({ unknown }) => unknown),
      hardware_errors: this.#sum(({ hardware_errors }) => hardware_errors),
      hashes,
      seconds,
      hashrate: seconds > 0 ? hashes / seconds : 0,
      expected_blocks: this.#luck.expectedBlocks,
      best_difficulty: this.#luck.bestDifficulty,
      new_cuts: this.#newCuts,
      missed_cuts: [...this.#sources.values()].reduce((sum, { missedCuts }) => sum + missedCuts, 0),
      ...(restart_ms && { restart_ms }),
      devices: Object.fromEntries(this.#inService().map(([name, { summary }]) => [name, summary])),
    };
  }

  #hearOf({ source, state, reason }: MinerEvent & { event: 'source' }, nowMs: number): void {
    const known = this.#source(source, nowMs);
    if (state === 'warning') this.#sources.set(source, { ...known, warning: reason });
    if (state !== 'connected' && state !== 'lost') return;
    const losses = known.losses + (state === 'lost' && known.state !== 'lost' ? 1 : 0);
    const sinceMs = known.state === state ? known.sinceMs : nowMs;
    this.#sources.set(source, { ...known, state, reason, losses, sinceMs });
  }

  #source(name: string, nowMs: number): SourceNow {
    const unknown = { reason: '', sinceMs: nowMs, losses: 0, missedCuts: 0, polled: [] };
    return this.#sources.get(name) ?? { state: 'connecting', ...unknown };
  }

  /** One that never works is not in the books. */
  #inService(): [string, DeviceBooks][] {
    return [...this.#devices].filter(([, { worked, meter }]) => worked || meter.total > 0);
  }

  #sum(figure: (device: DeviceSummary) => number): number {
    return [...this.#devices.values()].reduce((sum, { summary }) => sum + figure(summary), 0);
  }

  #device(name: string): DeviceBooks {
    let device = this.#devices.get(name);
    if (!device) {
      device = new DeviceBooks(this.#clock.monotonicMs());
      this.#devices.set(name, device);
    }
    return device;
  }
}
