/** All sessions of a stratum server: gives each new work to all of them, and sums up how they do. */

import type { Listener } from '../../events/events.ts';
import type { SessionContext } from './context.ts';
import type { Refusal } from './limits.ts';
import type { Session } from './session.ts';
import type { SessionJobs } from './session-jobs.ts';

/** The seconds between two shares of a session that learns, if there are few. */
const LEARNING_SECONDS = 0.15;
/** All sessions that learn send so many shares a second together. To verify them takes a tenth of a core. */
const LEARNING_SHARES_PER_SECOND = 1_000;
/** How often it is counted how many learn, and have brought shares. */
const COUNT_MS = 1_000;
/**
 * A session that makes room for others is at least so old, and its shares prove less than so many hashes a second. The
 * slowest miners that are worth a session, at 1 MH/s, have brought shares by then.
 */
const IDLE_MS = 150_000;
const IDLE_HASHES_PER_SECOND = 10_000;

export class Sessions {
  readonly #all = new Set<Session>();
  #learning = 0;
  #countedMs = 0;
  #reportedMs = 0;

  add(session: Session): void {
    this.#all.add(session);
  }

  delete(session: Session): void {
    this.#all.delete(session);
  }

  /** The seconds between two shares of a session whose rate is not known. */
  readonly learningSeconds = (): number => Math.max(LEARNING_SECONDS, this.#learning / LEARNING_SHARES_PER_SECOND);

  /** Gives a job of the current work to all. @param clean whether earlier jobs are worth nothing */
  giveAll(clean: boolean, nowMs: number): void {
    for (const turn of this.#turns()) turn.give(clean, nowMs);
  }

  /** To be called several times a second. */
  tick(nowMs: number): void {
    if (nowMs - this.#countedMs >= COUNT_MS) {
      this.#countedMs = nowMs;
      this.#learning = 0;
      // A session that brings nothing needs no share of the budget, and must not make others learn more slowly.
      for (const { isLearning, hashesPerSecond } of this.#turns())
        if (isLearning && hashesPerSecond > 0) this.#learning++;
    }
    for (const session of this.#all) session.tick(nowMs);
  }

  /** Disconnects so many clients at most that bring nothing; those that connected first go first. */
  makeRoom(most: number, nowMs: number): void {
    let count = 0;
    for (const session of this.#all) {
      if (count >= most) break;
      if (!session.isIdle(IDLE_MS, IDLE_HASHES_PER_SECOND, nowMs)) continue;
      session.close('it brings nothing, and the server is full', 'idle');
      count++;
    }
  }

  /** Disconnects all clients. */
  closeAll(): void {
    for (const session of [...this.#all]) session.close('the server ends');
  }

  /** Emits how the relay does, if it is time for that. */
  report(
    relay: string,
    emit: Listener,
    { accounts, limits }: Pick<SessionContext, 'accounts' | 'limits'>,
    refused: Readonly<Record<Refusal, number>>,
    nowMs: number,
  ): void {
    if (nowMs - this.#reportedMs < limits.reportMs) return;
    this.#reportedMs = nowMs;
    const turns = [...this.#turns()];
    const hashesPerSecond = turns.reduce((sum, turn) => sum + turn.hashesPerSecond, 0);
    const workers = accounts.list(nowMs);
    emit({ type: 'relay', relay, sessions: turns.length, hashesPerSecond, workers, refused: { ...refused } });
  }

  *#turns(): Generator<SessionJobs> {
    for (const { turn } of this.#all) if (turn) yield turn;
  }
}
