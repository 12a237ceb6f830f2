/** How each source of work is doing: nodes, pools and parents. */

import type { MinerEvent, RelayWorker } from '../events/events.ts';
import { OTHER_WORKERS } from '../events/vocabulary.ts';
import type { PolledChain, SourceKind, SourceState } from '../source/vocabulary.ts';
import type { Clock } from '../system/clock.ts';
import { type OutcomeCounts, type ShareCounts, VerdictCounts } from './device-stats.ts';
import { Latencies, type Latency } from './rates.ts';

/** One source, as last heard of. Times are the clock's `monotonicMs`. */
export interface SourceNow {
  readonly kind: SourceKind;
  readonly state: SourceState;
  readonly reason: string;
  /** Since when it has been in this state. */
  readonly sinceMs: number;
  /** How often it went out of reach. */
  readonly losses: number;
  /** Its last warning. */
  readonly warning?: string;
  /** Blocks that its update streams did not announce. */
  readonly missedCuts: number;
  /** The chains that are polled every few seconds because their update streams cannot be relied on. */
  readonly polledChains: readonly PolledChain[];
  /** The time from asking it for work to having it. Absent before the first. */
  readonly latencySeconds?: Latency;
}

/** The events that are about a source. */
type SourceEvent = MinerEvent & { type: 'source' | 'missed-cut' | 'polling' | 'fetch' };

export class Sources {
  readonly #expected: SourceKind;
  readonly #sources = new Map<string, SourceNow>();
  /** What makes sources unhealthy, by their names, and since when. Such a source is connected or lost all the same. */
  readonly #faults = new Map<string, { readonly reason: string; readonly sinceMs: number }>();
  /** How long each source took to give work, by its name. */
  readonly #fetches = new Map<string, Latencies>();

  /** @param expected what the sources are, until the first of them says so */
  constructor(expected: SourceKind) {
    this.#expected = expected;
  }

  /** What the rig's work comes from. */
  get kind(): SourceKind {
    return [...this.#sources.values()].at(0)?.kind ?? this.#expected;
  }

  heard(event: SourceEvent, nowMs: number): void {
    const { source } = event;
    switch (event.type) {
      case 'source':
        this.#news(event, nowMs);
        break;
      case 'missed-cut': {
        const known = this.#known(source, nowMs);
        this.#sources.set(source, { ...known, missedCuts: known.missedCuts + 1 });
        break;
      }
      case 'polling':
        this.#sources.set(source, { ...this.#known(source, nowMs), polledChains: event.chains });
        break;
      case 'fetch': {
        const latencies = this.#fetches.get(source) ?? new Latencies();
        this.#fetches.set(source, latencies);
        latencies.add(event.latencySeconds);
        break;
      }
    }
  }

  get anyConnected(): boolean {
    return [...this.#sources.values()].some(({ state }) => state === 'connected');
  }

  /** The number of missed New Cuts of all sources together. */
  get missedCuts(): number {
    return [...this.#sources.values()].reduce((sum, { missedCuts }) => sum + missedCuts, 0);
  }

  /** By name, in the order in which they were first heard of. */
  now(): Map<string, SourceNow> {
    return new Map(
      [...this.#sources].map(([name, source]) => [name, this.#withLatency(name, this.#withFault(name, source))]),
    );
  }

  #news({ source, kind, state, reason }: MinerEvent & { type: 'source' }, nowMs: number): void {
    if (state === 'unhealthy') this.#faults.set(source, { reason, sinceMs: nowMs });
    if (state === 'healthy') this.#faults.delete(source);
    if (state === 'unhealthy' || state === 'healthy') return;
    const known = { ...this.#known(source, nowMs), kind };
    if (state === 'warning') this.#sources.set(source, { ...known, warning: reason });
    if (state === 'warning' || state === 'info') return;
    const losses = known.losses + (state === 'lost' && known.state !== 'lost' ? 1 : 0);
    const sinceMs = known.state === state ? known.sinceMs : nowMs;
    this.#sources.set(source, { ...known, state, reason, losses, sinceMs });
  }

  #known(name: string, nowMs: number): SourceNow {
    const { kind } = this;
    const unheard = { kind, reason: '', sinceMs: nowMs, losses: 0, missedCuts: 0, polledChains: [] };
    return this.#sources.get(name) ?? { state: 'connecting', ...unheard };
  }

  /** Of a source that gives no work, nothing else matters. */
  #withFault(name: string, source: SourceNow): SourceNow {
    const fault = this.#faults.get(name);
    if (!fault || source.state !== 'connected') return source;
    return { ...source, state: 'unhealthy', reason: fault.reason, sinceMs: Math.max(fault.sinceMs, source.sinceMs) };
  }

  #withLatency(name: string, source: SourceNow): SourceNow {
    const latencySeconds = this.#fetches.get(name)?.spread;
    return { ...source, ...(latencySeconds && { latencySeconds }) };
  }
}

/* What came through one relay, and how its workers are doing, as the relay said last. */

/** What the source said to the solutions that a relay brought. The outcomes are those of blocks. */
export interface RelaySummary extends OutcomeCounts {
  readonly shares: ShareCounts;
}

/** How a relay is doing. */
export interface RelayNow {
  readonly sessions: number;
  /** How many workers are connected: those that are not listed by name count by their sessions. */
  readonly workersConnected: number;
  /** Estimated from shares. */
  readonly hashesPerSecond: number;
  readonly workers: readonly RelayWorker[];
  /** How many connections were refused or ended since the start, by the reason. */
  readonly refused: Readonly<Record<string, number>>;
}

export class RelayStats {
  readonly verdicts = new VerdictCounts();
  #last: (MinerEvent & { type: 'relay' }) | undefined;
  #lastMs = 0;

  heard(event: MinerEvent & { type: 'relay' }, nowMs: number): void {
    this.#last = event;
    this.#lastMs = nowMs;
  }

  now(nowMs: number): RelayNow {
    const { sessions = 0, hashesPerSecond = 0, workers = [], refused = {} } = this.#last ?? {};
    const age = (nowMs - this.#lastMs) / 1000;
    return {
      sessions,
      workersConnected: workers.reduce((sum, worker) => sum + connected(worker), 0),
      hashesPerSecond,
      refused,
      workers: workers.map(({ lastShareSeconds: last, ...worker }) => {
        return { ...worker, ...(last !== undefined && { lastShareSeconds: last + age }) };
      }),
    };
  }

  get summary(): RelaySummary {
    return { ...this.verdicts.blocks, shares: this.verdicts.shares };
  }
}

function connected({ name, sessions }: RelayWorker): number {
  return name === OTHER_WORKERS ? sessions : Math.min(1, sessions);
}

/** @returns what is known of all relays together */
export function allRelays(relays: Iterable<RelayNow>): Omit<RelayNow, 'workers' | 'refused'> {
  const sum = { sessions: 0, workersConnected: 0, hashesPerSecond: 0 };
  for (const { sessions, workersConnected, hashesPerSecond } of relays) {
    sum.sessions += sessions;
    sum.workersConnected += workersConnected;
    sum.hashesPerSecond += hashesPerSecond;
  }
  return sum;
}

/* The last work of each chain that was mined on. */

/**
 * A node says which chains there are; this many are more than any ledger has. The chain mined on longest ago is
 * dropped.
 */
const MOST_CHAINS = 256;
/** Targets change every hour, when all is well. */
const RECENT_MS = 3_600_000;

export class LastWork {
  readonly #clock: Clock;
  /** By chain, the one that was mined on longest ago first. */
  readonly #work = new Map<number, WorkNow>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  readonly listen = (event: MinerEvent): void => {
    if (event.type !== 'work') return;
    const { chain } = event;
    this.#work.delete(chain);
    this.#work.set(chain, workNow(event, this.#clock.monotonicMs()));
    const [oldest] = this.#work.keys();
    if (this.#work.size > MOST_CHAINS && oldest !== undefined) this.#work.delete(oldest);
  };

  /** The newest work, and those of the last hour that are of the same network. */
  recent(): WorkNow[] {
    const works = [...this.#work.values()];
    const newest = works.at(-1);
    const sinceMs = this.#clock.monotonicMs() - RECENT_MS;
    return works.filter(
      (work) => work === newest || (work.sinceMs >= sinceMs && work.networkCode === newest?.networkCode),
    );
  }

  /** Ordered by chain. */
  all(): WorkNow[] {
    return [...this.#work.values()].sort((a, b) => a.chain - b.chain);
  }
}

/* The work that is mined, as it is reported. */

/** What is being mined. */
export interface WorkNow {
  readonly chain: number;
  readonly height: bigint;
  /** The number by which the header names its network; absent when that is not known. */
  readonly networkCode?: number;
  /** Hashes that a block takes on average. */
  readonly difficulty: number;
  /** Hashes that a share takes on average; absent for a node's work. */
  readonly shareDifficulty?: number;
  readonly sinceMs: number;
}

export function workNow(
  { chain, height, networkCode, difficulty, shareDifficulty }: MinerEvent & { type: 'work' },
  sinceMs: number,
): WorkNow {
  const network = networkCode !== undefined && { networkCode };
  const share = shareDifficulty !== undefined && { shareDifficulty };
  return { chain, height, ...network, difficulty, ...share, sinceMs };
}
