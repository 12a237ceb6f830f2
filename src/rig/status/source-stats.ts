/** The states and counts of sources (nodes, pools, parents and fleets) and of relays, and the last works. */

import type { Clock } from '../../base/system/clock.ts';
import type { MinerEvent, RelayWorker } from '../../miner/events/events.ts';
import { OTHER_WORKERS, type SourceKind } from '../../miner/events/vocabulary.ts';
import { Latencies, VerdictCounts } from './counters.ts';
import type { RelayStatus, SourceStatus, Work, Worker } from './status.ts';

type SourceEvent = MinerEvent & { type: 'source' | 'missed-cut' | 'polling' | 'fetch' };

interface Source extends Omit<SourceStatus, 'ageSeconds' | 'latencySeconds'> {
  sinceMs: number;
}

export class Sources {
  readonly #expected: SourceKind;
  readonly #sources = new Map<string, Source>();
  /** Faults of unhealthy sources, by the source's name. An unhealthy source can be in any state, such as `lost`. */
  readonly #faults = new Map<string, { readonly reason: string; readonly sinceMs: number }>();
  /** Latencies of requests for work, by the source's name. */
  readonly #fetches = new Map<string, Latencies>();

  /** @param expected the kind of the sources, which is reported until the first event of a source */
  constructor(expected: SourceKind) {
    this.#expected = expected;
  }

  get kind(): SourceKind {
    return [...this.#sources.values()].at(0)?.kind ?? this.#expected;
  }

  update(event: SourceEvent, nowMs: number): void {
    const { source: name } = event;
    switch (event.type) {
      case 'source':
        this.#news(event, nowMs);
        break;
      case 'missed-cut':
        this.#source(name, nowMs).missedCuts++;
        break;
      case 'polling':
        this.#source(name, nowMs).polledChains = [...event.chains];
        break;
      case 'fetch': {
        const latencies = this.#fetches.get(name) ?? new Latencies();
        this.#fetches.set(name, latencies);
        latencies.add(event.latencySeconds);
        break;
      }
    }
  }

  get anyConnected(): boolean {
    return [...this.#sources.values()].some(({ state }) => state === 'connected');
  }

  get missedCuts(): number {
    return [...this.#sources.values()].reduce((sum, { missedCuts }) => sum + missedCuts, 0);
  }

  /** @returns the sources by name, in the order of their first events */
  status(nowMs: number): Record<string, SourceStatus> {
    return Object.fromEntries(Array.from(this.#sources, ([name, source]) => [name, this.#status(name, source, nowMs)]));
  }

  #news({ source: name, kind, state, reason }: MinerEvent & { type: 'source' }, nowMs: number): void {
    if (state === 'unhealthy') this.#faults.set(name, { reason, sinceMs: nowMs });
    if (state === 'healthy') this.#faults.delete(name);
    if (state === 'unhealthy' || state === 'healthy' || state === 'info') return;
    const source = this.#source(name, nowMs);
    source.kind = kind;
    if (state === 'warning') {
      source.warning = reason;
      return;
    }
    source.reason = reason;
    if (state === source.state) return;
    if (state === 'lost') source.losses++;
    source.state = state;
    source.sinceMs = nowMs;
  }

  #source(name: string, nowMs: number): Source {
    let source = this.#sources.get(name);
    if (!source) {
      const none = { reason: '', losses: 0, warning: null, missedCuts: 0, polledChains: [] };
      source = { kind: this.kind, state: 'connecting', sinceMs: nowMs, ...none };
      this.#sources.set(name, source);
    }
    return source;
  }

  #status(name: string, { sinceMs, ...source }: Source, nowMs: number): SourceStatus {
    // Only a connected source gives work. The fault of any other source does not matter.
    const fault = source.state === 'connected' ? this.#faults.get(name) : undefined;
    return {
      ...source,
      ...(fault && { state: 'unhealthy', reason: fault.reason }),
      ageSeconds: (nowMs - Math.max(sinceMs, fault?.sinceMs ?? sinceMs)) / 1000,
      latencySeconds: this.#fetches.get(name)?.spread ?? null,
    };
  }
}

export class RelayStats {
  readonly verdicts = new VerdictCounts();
  #last: (MinerEvent & { type: 'relay' }) | undefined;
  #lastMs = 0;

  update(event: MinerEvent & { type: 'relay' }, nowMs: number): void {
    this.#last = event;
    this.#lastMs = nowMs;
  }

  get counts(): Pick<RelayStatus, keyof VerdictCounts['blocks'] | 'shares'> {
    return { ...this.verdicts.blocks, shares: this.verdicts.shares };
  }

  status(nowMs: number): RelayStatus {
    const { sessions = 0, hashesPerSecond = 0, workers = [], refused = {} } = this.#last ?? {};
    const age = (nowMs - this.#lastMs) / 1000;
    return {
      sessions,
      workersConnected: workers.reduce((sum, worker) => sum + connected(worker), 0),
      hashesPerSecond,
      ...this.counts,
      refused: { ...refused },
      workers: workers.map((worker) => workerStatus(worker, age)),
    };
  }
}

/** @param age age of the relay's report in seconds, which is added to the age of the worker's last share */
export function workerStatus({ difficulty, lastShareSeconds: last, ...worker }: RelayWorker, age = 0): Worker {
  return { ...worker, difficulty: difficulty ?? null, lastShareSeconds: last === undefined ? null : last + age };
}

function connected({ name, sessions }: RelayWorker): number {
  return name === OTHER_WORKERS ? sessions : Math.min(1, sessions);
}

/**
 * Maximum number of chains whose last work is kept. Real ledgers have fewer chains. When there are more chains, the
 * oldest work is dropped.
 */
const MOST_CHAINS = 256;
/** Maximum age of a work whose difficulty is used for estimates. A chain's target changes about every hour. */
const RECENT_MS = 3_600_000;

export type GivenWork = MinerEvent & { type: 'work' } & { readonly sinceMs: number };

/** The last work of each mined chain. */
export class LastWork {
  readonly #clock: Clock;
  /** Last works by chain, in the order of their arrival: the oldest work comes first. */
  readonly #works = new Map<number, GivenWork>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(event: MinerEvent & { type: 'work' }): void {
    const { chain } = event;
    this.#works.delete(chain);
    this.#works.set(chain, { ...event, sinceMs: this.#clock.monotonicMs() });
    const [oldest] = this.#works.keys();
    if (this.#works.size > MOST_CHAINS && oldest !== undefined) this.#works.delete(oldest);
  }

  /** @returns the newest work, and the other works that are at most an hour old and for the same network */
  recent(): GivenWork[] {
    const works = [...this.#works.values()];
    const newest = works.at(-1);
    const sinceMs = this.#clock.monotonicMs() - RECENT_MS;
    return works.filter(
      (work) => work === newest || (work.sinceMs >= sinceMs && work.networkCode === newest?.networkCode),
    );
  }

  all(): GivenWork[] {
    return [...this.#works.values()].sort((a, b) => a.chain - b.chain);
  }
}

export function workStatus(work: GivenWork, nowMs: number): Work {
  const { chain, height, difficulty, shareDifficulty, sinceMs } = work;
  const ageSeconds = (nowMs - sinceMs) / 1000;
  return { chain, height: Number(height), difficulty, shareDifficulty: shareDifficulty ?? null, ageSeconds };
}
