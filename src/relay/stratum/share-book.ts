/** Writes the shares of a session into the ledger, and bounds the lines about shares that stand for nothing. */

import type { LedgerEntry } from './ledger-line.ts';
import { TokenBucket } from './token-bucket.ts';
import type { SessionWorld } from './world.ts';

/** A flood may last for days, and the ledger should tell of it meanwhile. */
const LEFT_OUT_MS = 60_000;

export class ShareBook {
  readonly #world: Pick<SessionWorld, 'record' | 'clock' | 'limits'>;
  readonly #session: number;
  readonly #worthless: TokenBucket;
  #leftOut = 0;
  #toldMs: number;

  /** @param session the session's number */
  constructor(world: Pick<SessionWorld, 'record' | 'clock' | 'limits'>, session: number) {
    this.#world = world;
    this.#session = session;
    this.#toldMs = world.clock.monotonicMs();
    const { worthlessBurst, worthlessPerSecond } = world.limits;
    this.#worthless = new TokenBucket(worthlessBurst, worthlessPerSecond, this.#toldMs);
  }

  /** A share that stands for nothing costs its client nothing either, so there can be any number of them. */
  write(share: Omit<Extract<LedgerEntry, { type: 'share' }>, 'type' | 'session'>): void {
    const nowMs = this.#world.clock.monotonicMs();
    if (nowMs - this.#toldMs >= LEFT_OUT_MS) this.#tell(nowMs);
    if (share.difficulty === undefined && !this.#worthless.take(1, nowMs)) this.#leftOut++;
    else this.#world.record({ type: 'share', session: this.#session, ...share });
  }

  /** The session has ended. */
  end(): void {
    this.#tell(this.#world.clock.monotonicMs());
  }

  #tell(nowMs: number): void {
    if (this.#leftOut === 0) return;
    this.#world.record({ type: 'left-out', session: this.#session, lines: this.#leftOut });
    this.#leftOut = 0;
    this.#toldMs = nowMs;
  }
}
