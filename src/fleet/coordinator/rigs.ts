/** The rigs that send messages to a coordinator. Each has an account with its token buckets and its statistics. */

import { TokenBucket } from '../../base/system/bounded.ts';
import { oneLine } from '../../base/text/plain-text.ts';
import type { RelayWorker } from '../../miner/events/events.ts';
import { OTHER_WORKERS } from '../../miner/events/vocabulary.ts';
import { type Account, Accounts, type SessionNow } from '../../miner/relay/accounts.ts';
import { senderOf, token } from '../subjects.ts';
import type { CoordinatorLimits } from './coordinator-limits.ts';

interface AccountOptions {
  readonly name: string;
  readonly shown: string;
  readonly account: Account;
  readonly limits: CoordinatorLimits;
  /** @returns the mean number of hashes until a solution of the current work; 0 without a current work */
  readonly difficulty: () => number;
  /** Whether the account is shared by several rigs. */
  readonly isShared: boolean;
  readonly nowMs: number;
}

/** A rig's token buckets and statistics, and whether its solutions are refused. */
export class FleetRigAccount {
  readonly name: string;
  /** The name as it is printed: one line, without control characters. */
  readonly shown: string;
  readonly account: Account;
  readonly #limits: CoordinatorLimits;
  readonly #isShared: boolean;
  readonly solutions: TokenBucket;
  readonly hellos: TokenBucket;
  readonly reports: TokenBucket;
  /** Bounds the answers that refuse the rig's solutions. */
  readonly refusals: TokenBucket;
  readonly #wrong: TokenBucket;
  readonly #session: SessionNow & { hashesPerSecond: number };
  #refusedUntilMs = Number.NEGATIVE_INFINITY;
  #minedMs = Number.NEGATIVE_INFINITY;
  /** Time of the last message (monotonic). It is updated at most once in `SAME_PLACE_MS`. */
  lastMs: number;

  constructor({ name, shown, account, limits, difficulty, isShared, nowMs }: AccountOptions) {
    this.name = name;
    this.shown = shown;
    this.account = account;
    this.#limits = limits;
    this.#isShared = isShared;
    this.solutions = new TokenBucket(limits.solutionBurst, limits.solutionsPerSecond, nowMs);
    this.hellos = new TokenBucket(limits.helloBurst, limits.hellosPerSecond, nowMs);
    this.reports = new TokenBucket(limits.reportBurst, limits.reportsPerSecond, nowMs);
    this.refusals = new TokenBucket(limits.refusalBurst, limits.refusalsPerSecond, nowMs);
    this.#wrong = new TokenBucket(limits.wrongBurst, limits.wrongPerMinute / 60, nowMs);
    this.#session = {
      hashesPerSecond: 0,
      get difficulty() {
        return difficulty();
      },
    };
    this.lastMs = nowMs;
  }

  isRefused(nowMs: number): boolean {
    return nowMs < this.#refusedUntilMs;
  }

  /** Counts a wrong solution. @returns whether all solutions of the rig are refused for `refusedMs` from now on */
  wasWrong(nowMs: number): boolean {
    this.account.note('rejected', nowMs);
    // Rigs that share an account must not all be refused because of one of them.
    if (this.#wrong.take(1, nowMs) || this.#isShared) return false;
    this.#refusedUntilMs = nowMs + this.#limits.refusedMs;
    return true;
  }

  /** Notes that the rig mines this coordinator's work. @param hashesPerSecond from a report; absent for a solution */
  mines(nowMs: number, hashesPerSecond?: number): void {
    this.#minedMs = nowMs;
    if (hashesPerSecond !== undefined) this.#session.hashesPerSecond = hashesPerSecond;
    if (this.account.sessions.has(this.#session)) return;
    this.account.sessions.add(this.#session);
    this.account.users++;
  }

  minesElsewhere(): void {
    if (this.account.sessions.delete(this.#session)) this.account.users--;
    this.#session.hashesPerSecond = 0;
  }

  tick(nowMs: number): void {
    if (nowMs - this.#minedMs >= this.#limits.sessionMs) this.minesElsewhere();
  }
}

/** Minimum time between two moves of a rig to the end of `#rigs`, so that not every message causes a move. */
const SAME_PLACE_MS = 1_000;

export class Rigs {
  readonly #limits: CoordinatorLimits;
  readonly #difficulty: () => number;
  readonly #accounts = new Accounts();
  /** The accounts, by the token of the rig's name in subjects. The rig whose `lastMs` is the earliest comes first. */
  readonly #rigs = new Map<string, FleetRigAccount>();
  /** The account of all rigs for which there is no room in `#rigs`. */
  readonly #further: FleetRigAccount;

  constructor(limits: CoordinatorLimits, difficulty: () => number, nowMs: number) {
    this.#limits = limits;
    this.#difficulty = difficulty;
    this.#further = this.#make(OTHER_WORKERS, nowMs, true);
  }

  /** @returns the account and name of a message's sender; undefined if the subject does not end with a valid name */
  of(subject: string, nowMs: number): { readonly rig: FleetRigAccount; readonly sender: string } | undefined {
    const key = subject.slice(subject.lastIndexOf('.') + 1);
    const known = this.#rigs.get(key);
    if (known) {
      if (nowMs - known.lastMs >= SAME_PLACE_MS) {
        known.lastMs = nowMs;
        this.#rigs.delete(key);
        this.#rigs.set(key, known);
      }
      return { rig: known, sender: known.name };
    }
    const sender = senderOf(subject);
    if (sender === undefined) return undefined;
    if (!this.#makeRoom(nowMs)) return { rig: this.#further, sender };
    const rig = this.#make(sender, nowMs);
    this.#rigs.set(key, rig);
    return { rig, sender };
  }

  tick(nowMs: number): void {
    for (const rig of this.#rigs.values()) rig.tick(nowMs);
  }

  list(nowMs: number): RelayWorker[] {
    return this.#accounts.list(nowMs);
  }

  #make(name: string, nowMs: number, isShared = false): FleetRigAccount {
    // `oneLine` leaves nothing of a name that has only control characters.
    const shown = oneLine(name) || token(name);
    const account = this.#accounts.of(shown);
    return new FleetRigAccount({
      name,
      shown,
      account,
      limits: this.#limits,
      difficulty: this.#difficulty,
      isShared,
      nowMs,
    });
  }

  /**
   * If there is no room for another account, drops the account with the earliest `lastMs`, but only if this time is at
   * least `rigIdleMs` ago.
   * @returns whether there is room now
   */
  #makeRoom(nowMs: number): boolean {
    const { rigs, rigIdleMs } = this.#limits;
    if (this.#rigs.size < rigs) return true;
    const [[key, oldest]] = this.#rigs;
    if (nowMs - oldest.lastMs < rigIdleMs) return false;
    oldest.minesElsewhere();
    this.#rigs.delete(key);
    return true;
  }
}
