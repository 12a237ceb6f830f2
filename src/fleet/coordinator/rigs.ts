/** The rigs of a coordinator, each with its token buckets and its statistics. */

import { TokenBucket } from '../../base/system/bounded.ts';
import { oneLine } from '../../base/text/plain-text.ts';
import type { RelayWorker } from '../../miner/events/events.ts';
import { OTHER_WORKERS } from '../../miner/events/vocabulary.ts';
import { type Account, Accounts, type SessionNow } from '../../miner/relay/accounts.ts';
import { senderOf, token } from '../messages.ts';
import type { CoordinatorLimits } from './coordinator-limits.ts';

interface AccountOptions {
  readonly name: string;
  readonly shown: string;
  readonly account: Account;
  readonly limits: CoordinatorLimits;
  /** @returns the mean number of hashes for a solution of the current work */
  readonly difficulty: () => number;
  /** Whether the account is shared by several rigs. */
  readonly isShared: boolean;
  readonly nowMs: number;
}

/** A rig's token buckets and statistics, and whether its solutions are refused. */
export class FleetRigAccount {
  readonly name: string;
  /** The name, safe to print. */
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
  /** Time of the last message (monotonic). */
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

  /** Counts a wrong solution. @returns whether all solutions of the rig are refused from now on */
  wasWrong(nowMs: number): boolean {
    this.account.note('rejected', nowMs);
    // Rigs that share an account must not all be refused because of one of them.
    if (this.#wrong.take(1, nowMs) || this.#isShared) return false;
    this.#refusedUntilMs = nowMs + this.#limits.refusedMs;
    return true;
  }

  /** Notes that the rig mines this coordinator's work. @param hashesPerSecond by the rig's report, if this is one */
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

/** Minimum time between two moves of a rig to the end of the order, so that the order costs little. */
const SAME_PLACE_MS = 1_000;

export class Rigs {
  readonly #limits: CoordinatorLimits;
  readonly #difficulty: () => number;
  readonly #accounts = new Accounts();
  /** By the token of the rig's name in subjects. The rig whose last message is the oldest comes first. */
  readonly #rigs = new Map<string, FleetRigAccount>();
  /** The account shared by all rigs for which there is no room. */
  readonly #further: FleetRigAccount;

  constructor(limits: CoordinatorLimits, difficulty: () => number, nowMs: number) {
    this.#limits = limits;
    this.#difficulty = difficulty;
    this.#further = this.#make(OTHER_WORKERS, nowMs, true);
  }

  /** @returns the sender of a message with this subject; undefined if the subject does not end with a name */
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

  /** If there is no room, drops the rig with the oldest last message, if idle. @returns whether there is room */
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
