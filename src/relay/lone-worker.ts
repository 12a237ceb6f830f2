/** Tells how the only worker of a relay is doing: what became of its solutions, and the hashrate that they stand for. */

import { difficultyOf } from '../chain/target.ts';
import type { Solution } from '../chain/verify.ts';
import type { Listener, RelayWorker } from '../events/events.ts';
import type { ShareOutcome } from '../events/vocabulary.ts';
import type { Outcome } from '../source/vocabulary.ts';
import type { Clock } from '../system/clock.ts';

/** How often it is told: as often as the stratum server tells of its workers. */
const TELL_MS = 5_000;
/** The hashrate is estimated from the solutions of this time. Blocks are rare, so a shorter time would often hold none. */
const WINDOW_MS = 600_000;

export interface LoneWorkerOptions {
  /** The relay's name, and what the worker is called. */
  readonly relay: string;
  readonly worker: string;
  readonly emit: Listener;
  readonly clock: Clock;
  /** Whether its solutions stand for hashes. Simulated ones do not. */
  readonly hashes: boolean;
}

export class LoneWorker {
  readonly #options: LoneWorkerOptions;
  readonly #counts: Record<ShareOutcome | 'blocks', number> = {
    accepted: 0,
    rejected: 0,
    stale: 0,
    duplicate: 0,
    blocks: 0,
  };
  readonly #startMs: number;
  readonly #timer: NodeJS.Timeout;
  /** The accepted solutions of the window, oldest first. */
  #accepted: { readonly ms: number; readonly difficulty: number }[] = [];
  #lastMs: number | undefined;
  #difficulty: number | undefined;
  #isBusy = false;

  constructor(options: LoneWorkerOptions) {
    this.#options = options;
    this.#startMs = options.clock.monotonicMs();
    this.#timer = setInterval(() => this.#tell(), TELL_MS);
    this.#tell();
  }

  /** @param target what its solutions must meet, 32 bytes, little-endian; undefined while it has nothing to do */
  works(target: Uint8Array | undefined): void {
    const wasBusy = this.#isBusy;
    this.#isBusy = target !== undefined;
    this.#difficulty = target && difficultyOf(target);
    if (this.#isBusy !== wasBusy) this.#tell();
  }

  /** It brought a nonce that is none: `rejected`, or one for the second time: `duplicate`. */
  wasWrong(outcome: 'rejected' | 'duplicate'): void {
    this.#counts[outcome]++;
  }

  /** It brought a solution, of which this became. */
  brought({ work, isBlock }: Solution, verdict: Outcome): void {
    const outcome = verdict === 'accepted' || verdict === 'stale' ? verdict : 'rejected';
    this.#counts[outcome]++;
    if (outcome !== 'accepted') return;
    if (isBlock) this.#counts.blocks++;
    this.#lastMs = this.#options.clock.monotonicMs();
    this.#accepted.push({ ms: this.#lastMs, difficulty: difficultyOf(work.target) });
  }

  end(): void {
    clearInterval(this.#timer);
    this.works(undefined);
    this.#tell();
  }

  #tell(): void {
    const { relay, worker: name, emit, clock } = this.#options;
    const nowMs = clock.monotonicMs();
    const hashesPerSecond = this.#rate(nowMs);
    const sessions = this.#isBusy ? 1 : 0;
    const worker: RelayWorker = {
      name,
      sessions,
      hashesPerSecond,
      ...(this.#difficulty !== undefined && { difficulty: this.#difficulty }),
      ...this.#counts,
      ...(this.#lastMs !== undefined && { lastShareSeconds: (nowMs - this.#lastMs) / 1000 }),
    };
    emit({ type: 'relay', relay, sessions, hashesPerSecond, workers: [worker] });
  }

  #rate(nowMs: number): number {
    this.#accepted = this.#accepted.filter(({ ms }) => nowMs - ms < WINDOW_MS);
    const ms = Math.min(WINDOW_MS, nowMs - this.#startMs);
    if (!this.#options.hashes || ms <= 0) return 0;
    return (1000 * this.#accepted.reduce((sum, { difficulty }) => sum + difficulty, 0)) / ms;
  }
}
