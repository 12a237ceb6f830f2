/** How each source of work is doing: nodes, pools and parents. */

import type { MinerEvent } from '../events/events.ts';
import type { PolledChain, SourceKind, SourceState } from '../source/vocabulary.ts';
import { Latencies, type Latency } from './latencies.ts';

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
