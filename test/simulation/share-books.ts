/** The books of rigs on pools: what each rig believes of its shares agrees with what the pools have said and done. */

import { poolLimits } from '#pickaxe/miner/source/pool/pool-limits.js';
import { toHex } from '#pickaxe/protocol/chain/bytes.js';
import type { Job } from '#pickaxe/protocol/chain/job.js';
import { difficultyOf, meetsTarget } from '#pickaxe/protocol/chain/target.js';
import { powHash } from '#pickaxe/protocol/chain/verify.js';
import type { PoolUser } from './pool-user.ts';
import { type Account, type Found, RigBooks, type VerdictEvent } from './rig-books.ts';
import type { Simulation } from './simulation.ts';

/** Longest time from the finding of a share to its verdict, in a process that is not frozen. */
const VERDICT_MS = poolLimits.submitMs + 1_000;
/** A connection that failover closes stays open at most so long. */
const CLOSING_MS = 6_000;
/** Standard deviations by which the number of shares may differ from the expected one. */
const MOST_DEVIATIONS = 6;

interface Candidate {
  readonly rig: string;
  readonly atMs: number;
}

export abstract class ShareBooks extends RigBooks {
  lost = 0;
  /** When the rigs were asked to end; infinite before that. */
  stoppedMs = Number.POSITIVE_INFINITY;
  /** Sums of the difficulties of accepted shares: what the pools have credited, and what the rigs have worked. */
  credited = 0;
  worked = 0;
  /** By hash in hex: shares that an engine has found and the rig has not reported. */
  readonly #unreported = new Map<string, Candidate>();
  /** By rig: the expected number of shares in all hashes. */
  readonly #expected = new Map<string, number>();
  readonly #counts = new Map<string, number>();
  /** Shares that were not sent although their job was valid: lost, unless their connection was about to be closed. */
  readonly #doubtful: { readonly untilMs: number; readonly what: string; readonly isLost: () => boolean }[] = [];

  override candidate(account: Account, header: Uint8Array, job?: Job): void {
    super.candidate(account, header, job);
    const hash = powHash(header);
    if (!job || !meetsTarget(hash, job.work.target)) return;
    const { rig } = account;
    this.#unreported.set(toHex(hash), { rig, atMs: this.simulation.time.nowMs });
    this.#counts.set(rig, (this.#counts.get(rig) ?? 0) + 1);
  }

  /** Counts the hashes of a rig. */
  searched(rig: string, { work, searchTarget }: Job, nonces: number): void {
    // Until the device's rate is known, easy shares are left out.
    const difficulty = Math.max(difficultyOf(work.target), difficultyOf(searchTarget));
    this.#expected.set(rig, (this.#expected.get(rig) ?? 0) + nonces / difficulty);
  }

  override listen(account: Account, event: Parameters<RigBooks['listen']>[1]): void {
    if (event.type === 'solution') this.#unreported.delete(toHex(event.hash));
    super.listen(account, event);
  }

  override close(account: Account): void {
    super.close(account);
    for (const [hash, { rig }] of this.#unreported) if (rig === account.rig) this.#unreported.delete(hash);
  }

  override check(): void {
    super.check();
    const { nowMs } = this.simulation.time;
    const [unreported] = this.#unreported.values();
    if (unreported && unreported.atMs < nowMs) {
      this.simulation.violate(`${unreported.rig} has not reported a share that its engine has found`);
    }
    for (const { pending, rig } of this.accounts) {
      const [oldest] = pending.values();
      if (oldest) this.checkOldest(rig, oldest);
    }
    while (this.#doubtful.length > 0 && this.#doubtful[0].untilMs <= nowMs) {
      const { what, isLost } = this.#doubtful.shift()!;
      if (!isLost()) continue;
      this.lost++;
      this.simulation.violate(`a share is lost: ${what}`);
    }
  }

  override checkEnd(): void {
    super.checkEnd();
    const { worked, credited } = this;
    // A target that becomes harder counts at once, although the pool credits the one with which it sent the job.
    if (credited > 1.01 * worked || credited < 0.7 * worked) {
      this.simulation.violate(
        `the pools have credited ${credited.toFixed(0)} for shares of ${worked.toFixed(0)} hashes`,
      );
    }
    for (const [rig, expected] of this.#expected) {
      const found = this.#counts.get(rig) ?? 0;
      if (Math.abs(found - expected) <= MOST_DEVIATIONS * Math.sqrt(expected) + 5) continue;
      this.simulation.violate(`${rig} has found ${found} shares in hashes that are worth ${expected.toFixed(1)}`);
    }
  }

  /** Counts an accepted share. @param credit the difficulty for which the pool has credited it */
  protected accept({ difficulty }: VerdictEvent, credit: number): void {
    this.credited += credit;
    this.worked += difficulty;
  }

  /** A share was not sent although its job was valid. @param isLost called when that should have been put right */
  protected doubt(what: string, isLost: () => boolean): void {
    this.#doubtful.push({ untilMs: this.simulation.time.nowMs + CLOSING_MS, what, isLost });
  }

  /** Checks the share of a rig that has waited longest for its verdict. */
  protected abstract checkOldest(rig: string, oldest: Found): void;
}

/** The books of rigs that are the users of the pools themselves. */
export class DirectShareBooks extends ShareBooks {
  readonly #userOf: (rig: string) => PoolUser;

  /** @param userOf the present process of a rig */
  constructor(simulation: Simulation, userOf: (rig: string) => PoolUser) {
    super(simulation);
    this.#userOf = userOf;
  }

  protected override checkOldest(rig: string, { atMs }: Found): void {
    const { process } = this.#userOf(rig);
    if (process.isFrozen || this.simulation.time.nowMs - Math.max(atMs, process.thawedMs) <= VERDICT_MS) return;
    this.simulation.violate(`${rig} has no verdict on a share after ${VERDICT_MS / 1000} s`);
  }

  protected override judge({ rig }: Account, { header }: Found, event: VerdictEvent, key: string): void {
    const { outcome, reason } = event;
    const user = this.#userOf(rig);
    const nowMs = user.process.clock.monotonicMs();
    const violate = (what: string) => this.simulation.violate(`${rig} ${what}: ${outcome} ${key} (${reason})`);
    const hex = toHex(header);
    const share = user.shares.get(hex);
    const connection = user.connectionOf(header);
    const job = connection?.wire.jobOf(header);
    if (!connection || !job) {
      violate('has a share of no job');
      return;
    }
    if (!share) {
      user.unsent.add(hex);
      if (outcome !== 'stale') violate('has a verdict on a share that was not sent');
      else if (job.staleMs === undefined) {
        const what = `${rig} has not sent ${key}, whose job was valid: ${reason}`;
        this.doubt(what, () => connection.wire.isOpen);
      }
      return;
    }
    const { answer, sentMs, wire } = share;
    const credit = connection.site.creditOf(header);
    if (answer && answer.atMs < nowMs) violate(`has a verdict ${nowMs - answer.atMs} ms after the answer`);
    // What follows the line that ends a connection is not read.
    const isUnread = outcome === 'unknown' && !wire.isOpen && answer?.atMs === nowMs;
    if ((answer?.kind ?? 'unknown') !== outcome && !isUnread)
      violate(`has another verdict than the answer, ${answer?.kind}`);
    if (wire.endedMs !== undefined && wire.endedMs < nowMs) violate('has a verdict only after the end of a connection');
    if (outcome === 'unknown') {
      const isLate =
        nowMs - sentMs >= poolLimits.submitMs - 1 ||
        this.simulation.time.nowMs >= this.stoppedMs + poolLimits.submitAfterStopMs;
      const isEnding = this.simulation.time.nowMs >= this.stoppedMs;
      const hasNoWork = nowMs - (wire.changesMs.at(-1) ?? nowMs) >= poolLimits.noWorkMs - 1;
      const mayClose = hasNoWork || user.mayClose(connection.site);
      const isGivenUp = (wire.isOpen || (isEnding && wire.wasLeft)) && !mayClose;
      if (isGivenUp && !isLate) violate('has given up a share');
    }
    if ((outcome === 'accepted') !== (credit !== undefined) && outcome !== 'unknown')
      violate('is wrong about a credit');
    if (outcome !== 'accepted' || credit === undefined) return;
    this.accept(event, credit);
  }
}
