/** The last work of each chain that was mined on. */

import type { MinerEvent } from '../events/events.ts';
import type { Clock } from '../system/clock.ts';
import { type WorkNow, workNow } from './work-now.ts';

/** A node says which chains there are; this many are more than any ledger has. The chain mined on longest ago is dropped. */
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
