/** Statistics about a relay's workers, by their names. */

import type { Clock, Timer } from '../../base/system/clock.ts';
import { difficultyOf } from '../../protocol/chain/target.ts';
import type { Solution } from '../../protocol/chain/verify.ts';
import type { Listener, RelayWorker } from '../events/events.ts';
import { OTHER_WORKERS, type Outcome, type ShareOutcome } from '../events/vocabulary.ts';

/** Maximum number of workers that an event lists by name. All others are summed up under one name. */
const LISTED = 64;
/** Maximum number of accounts. Without a limit, clients with random names could fill the memory. */
const KEPT = 4_096;

export interface SessionNow {
  readonly hashesPerSecond: number;
  /** Difficulty of the session's shares, in hashes per share. */
  readonly difficulty: number;
}

/** The statistics of one worker. A worker can have several sessions, at the same time or one after the other. */
export class Account {
  readonly name: string;
  readonly sessions = new Set<SessionNow>();
  /** Number of open connections that have authorized the worker. An account is not removed while this is above 0. */
  users = 0;
  readonly counts: Record<ShareOutcome, number> = { accepted: 0, rejected: 0, stale: 0, duplicate: 0 };
  blocks = 0;
  lastShareMs: number | undefined;

  constructor(name: string) {
    this.name = name;
  }

  /** Counts a share. @returns whether this is the worker's first accepted share */
  note(outcome: ShareOutcome, nowMs: number): boolean {
    this.counts[outcome]++;
    if (outcome !== 'accepted') return false;
    const isFirst = this.lastShareMs === undefined;
    this.lastShareMs = nowMs;
    return isFirst;
  }

  now(nowMs: number): RelayWorker {
    const sessions = [...this.sessions];
    const hashesPerSecond = sessions.reduce((sum, session) => sum + session.hashesPerSecond, 0);
    const { name, counts, blocks, lastShareMs } = this;
    return {
      name,
      sessions: sessions.length,
      hashesPerSecond,
      ...(sessions.length > 0 && { difficulty: Math.min(...sessions.map(({ difficulty }) => difficulty)) }),
      ...counts,
      blocks,
      ...(lastShareMs !== undefined && { lastShareSeconds: (nowMs - lastShareMs) / 1000 }),
    };
  }
}

export class Accounts {
  /** All accounts by their workers' names, the least recently requested first. */
  readonly #accounts = new Map<string, Account>();
  /** The sums of removed accounts, and the shares of workers for which there was no room. */
  readonly #others = new Account(OTHER_WORKERS);

  /**
   * Makes the worker's account if it has none.
   * @param name of the worker
   * @returns the worker's account; `#others` if there is no room for a new account, or if the name is `OTHER_WORKERS`
   */
  of(name: string): Account {
    // A worker that uses this reserved name must not be listed as a second entry with the same name.
    if (name === OTHER_WORKERS) return this.#others;
    const known = this.#accounts.get(name);
    if (!known && this.#accounts.size >= KEPT && !this.#forgetOne()) return this.#others;
    const account = known ?? new Account(name);
    this.#accounts.delete(name);
    this.#accounts.set(name, account);
    return account;
  }

  /** @returns the 64 fastest workers, and the sum of all others if they have sessions or shares */
  list(nowMs: number): RelayWorker[] {
    const all = [...this.#accounts.values()].map((account) => account.now(nowMs));
    all.sort((a, b) => b.hashesPerSecond - a.hashesPerSecond || b.sessions - a.sessions || (a.name < b.name ? -1 : 1));
    const rest = [...all.slice(LISTED), this.#others.now(nowMs)].filter(hasDoneSomething);
    return rest.length === 0 ? all.slice(0, LISTED) : [...all.slice(0, LISTED), summedUp(rest)];
  }

  /**
   * Removes the least recently requested account that no connection uses, and adds its counts to `#others`.
   * @returns whether there was such an account
   */
  #forgetOne(): boolean {
    const idle = this.#firstIdle();
    if (!idle) return false;
    this.#accounts.delete(idle.name);
    const others = this.#others;
    for (const outcome of Object.keys(idle.counts) as ShareOutcome[]) others.counts[outcome] += idle.counts[outcome];
    others.blocks += idle.blocks;
    const { lastShareMs = Number.NEGATIVE_INFINITY } = idle;
    if (lastShareMs > (others.lastShareMs ?? Number.NEGATIVE_INFINITY)) others.lastShareMs = lastShareMs;
    return true;
  }

  #firstIdle(): Account | undefined {
    for (const account of this.#accounts.values()) if (account.users === 0) return account;
    return undefined;
  }
}

function hasDoneSomething({ sessions, accepted, rejected, stale, duplicate }: RelayWorker): boolean {
  return sessions + accepted + rejected + stale + duplicate > 0;
}

function summedUp(workers: readonly RelayWorker[]): RelayWorker {
  const sum = (of: (worker: RelayWorker) => number) => workers.reduce((total, worker) => total + of(worker), 0);
  const least = (of: (worker: RelayWorker) => number | undefined) => {
    const known = workers.map(of).filter((value) => value !== undefined);
    return known.length === 0 ? undefined : Math.min(...known);
  };
  const [difficulty, lastShareSeconds] = [
    least((worker) => worker.difficulty),
    least((worker) => worker.lastShareSeconds),
  ];
  return {
    name: OTHER_WORKERS,
    sessions: sum(({ sessions }) => sessions),
    hashesPerSecond: sum(({ hashesPerSecond }) => hashesPerSecond),
    ...(difficulty !== undefined && { difficulty }),
    accepted: sum(({ accepted }) => accepted),
    rejected: sum(({ rejected }) => rejected),
    stale: sum(({ stale }) => stale),
    duplicate: sum(({ duplicate }) => duplicate),
    blocks: sum(({ blocks }) => blocks),
    ...(lastShareSeconds !== undefined && { lastShareSeconds }),
  };
}

/* Statistics of a relay that has only one worker. */

/** Maximum time between two `relay` events. The stratum server also reports at this interval. */
const REPORT_MS = 5_000;
/** Time over which the hashrate is measured. Blocks are rare, so a shorter time would often contain no block. */
const WINDOW_MS = 600_000;

interface LoneWorkerOptions {
  readonly relay: string;
  readonly worker: string;
  readonly emit: Listener;
  readonly clock: Clock;
  /** Whether solutions prove hashes. Simulated solutions prove none, so their hashrate is 0. */
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
  readonly #timer: Timer;
  /** The accepted solutions of the last ten minutes, oldest first. */
  #accepted: { readonly ms: number; readonly difficulty: number }[] = [];
  #lastMs: number | undefined;
  #difficulty: number | undefined;
  #isBusy = false;

  constructor(options: LoneWorkerOptions) {
    this.#options = options;
    this.#startMs = options.clock.monotonicMs();
    this.#timer = this.#options.clock.setInterval(() => this.#notify(), REPORT_MS);
    this.#notify();
  }

  /** @param target of the worker's solutions, 32 bytes, little-endian; undefined while the worker has no work */
  works(target: Uint8Array | undefined): void {
    const wasBusy = this.#isBusy;
    this.#isBusy = target !== undefined;
    this.#difficulty = target && difficultyOf(target);
    if (this.#isBusy !== wasBusy) this.#notify();
  }

  /** Counts a wrong nonce (`rejected`) or a repeated nonce (`duplicate`). */
  wasWrong(outcome: 'rejected' | 'duplicate'): void {
    this.#counts[outcome]++;
  }

  brought({ work, isBlock }: Solution, verdict: Outcome): void {
    const outcome = verdict === 'accepted' || verdict === 'stale' ? verdict : 'rejected';
    this.#counts[outcome]++;
    if (outcome !== 'accepted') return;
    if (isBlock) this.#counts.blocks++;
    this.#lastMs = this.#options.clock.monotonicMs();
    this.#accepted.push({ ms: this.#lastMs, difficulty: difficultyOf(work.target) });
  }

  end(): void {
    this.#timer.cancel();
    this.works(undefined);
    this.#notify();
  }

  #notify(): void {
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
