/** The books of all rigs: each solution has exactly one verdict. What else must be true of it, each world says. */

import type { MinerEvent } from '#pickaxe/miner/events/events.js';
import type { Outcome } from '#pickaxe/miner/events/vocabulary.js';
import { toHex } from '#pickaxe/protocol/chain/bytes.js';
import type { Job } from '#pickaxe/protocol/chain/job.js';
import { powHash } from '#pickaxe/protocol/chain/verify.js';
import type { Simulation } from './simulation.ts';

export interface Found {
  readonly rig: string;
  readonly header: Uint8Array;
  readonly chain: number;
  readonly atMs: number;
}

/** How many solutions a process has found, and with which outcomes. */
export type Counts = { found: number } & Record<Outcome, number>;

/** Solutions of one process of a rig. */
export interface Account {
  readonly rig: string;
  readonly counts: Counts;
  /** By nonce and chain: the solutions without a verdict. */
  readonly pending: Map<string, Found>;
  /** The headers of candidates, by their hashes in hex. Only their engine knows them. */
  readonly headers: Map<string, Uint8Array>;
}

export type VerdictEvent = Extract<MinerEvent, { type: 'verdict' }>;

export abstract class RigBooks {
  found = 0;
  /** Solutions whose rig was killed before their verdict. */
  killed = 0;
  readonly verdicts: Record<Outcome, number> = { accepted: 0, delivered: 0, rejected: 0, stale: 0, unknown: 0 };
  protected readonly simulation: Simulation;
  protected readonly accounts = new Set<Account>();

  constructor(simulation: Simulation) {
    this.simulation = simulation;
  }

  open(rig: string): Account {
    const counts = { found: 0, accepted: 0, delivered: 0, rejected: 0, stale: 0, unknown: 0 };
    const account: Account = { rig, counts, pending: new Map(), headers: new Map() };
    this.accounts.add(account);
    return account;
  }

  /** The rig of the account was killed. */
  close(account: Account): void {
    this.killed += account.pending.size;
    account.pending.clear();
    this.accounts.delete(account);
  }

  get pending(): number {
    return [...this.accounts].reduce((sum, { pending }) => sum + pending.size, 0);
  }

  /** A device has found a candidate, whose header nobody else can know from the events. @param _job of an engine */
  candidate(account: Account, header: Uint8Array, _job?: Job): void {
    account.headers.set(toHex(powHash(header)), header);
  }

  /** Listens to the events of a rig. */
  listen(account: Account, event: MinerEvent): void {
    if (event.type === 'solution') this.#solution(account, event);
    else if (event.type === 'verdict') this.#verdict(account, event);
  }

  /** Checks what must be true at any time. */
  check(): void {
    const { accepted, delivered, rejected, stale, unknown } = this.verdicts;
    const sum = accepted + delivered + rejected + stale + unknown + this.pending + this.killed;
    if (sum !== this.found)
      this.simulation.violate(`the books do not balance: ${this.found} found, ${sum} accounted for`);
  }

  /** Checks what must be true at the end: nothing is pending. */
  checkEnd(): void {
    for (const { pending, rig } of this.accounts) {
      for (const [key, { atMs }] of pending) {
        this.simulation.violate(`${rig} has no verdict on ${key}, found at ${(atMs / 1000).toFixed(1)} s`);
      }
    }
  }

  /** Checks a verdict. @param key names the solution */
  protected abstract judge(account: Account, found: Found, verdict: VerdictEvent, key: string): void;

  #solution(account: Account, event: Extract<MinerEvent, { type: 'solution' }>): void {
    const key = keyOf(event);
    this.found++;
    account.counts.found++;
    const hash = toHex(event.hash);
    const header = account.headers.get(hash);
    if (!header) {
      this.simulation.violate(`${account.rig} reports a solution that its engine has not found`);
      return;
    }
    if (account.pending.has(key)) this.simulation.violate(`${account.rig} reports ${key} twice`);
    account.pending.set(key, { rig: account.rig, header, chain: event.chain, atMs: this.simulation.time.nowMs });
    this.simulation.note(`${account.rig} found ${key}`);
  }

  #verdict(account: Account, event: VerdictEvent): void {
    const key = keyOf(event);
    const found = account.pending.get(key);
    if (!found) {
      this.simulation.violate(`${account.rig} has a verdict without a solution: ${key}`);
      return;
    }
    account.pending.delete(key);
    this.verdicts[event.outcome]++;
    account.counts[event.outcome]++;
    this.simulation.note(`${account.rig} ${event.outcome} ${key}: ${event.reason}`);
    this.judge(account, found, event, key);
  }
}

const keyOf = ({ chain, nonce }: { chain: number; nonce: bigint }) => `chain ${chain} nonce ${nonce.toString(16)}`;
