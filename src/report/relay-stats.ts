/** What came through one relay, and how its workers are doing, as the relay said last. */

import type { MinerEvent, RelayWorker } from '../events/events.ts';
import { OTHER_WORKERS } from '../events/vocabulary.ts';
import { type OutcomeCounts, type ShareCounts, VerdictCounts } from './verdict-counts.ts';

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
