/** The books of all rigs: each solution has exactly one verdict, and none is lost that a node would still take. */

import type { MinerEvent } from '#pickaxe/miner/events/events.js';
import { toHex } from '#pickaxe/protocol/chain/bytes.js';
import { powHash } from '#pickaxe/protocol/chain/verify.js';
import type { SimulatedNetwork } from './network.ts';
import type { SimulatedNode } from './node.ts';
import type { Simulation } from './simulation.ts';

/** Time after which it is known whether a parent has got a block. */
const WAIT_MS = 30_000;

/** Longest time from a block's arrival at a node until all miners have fetched work after its New Cut. */
const ANNOUNCING_MS = 5_000;

const OUTCOMES = ['accepted', 'delivered', 'rejected', 'stale', 'unknown'] as const;
type Outcome = (typeof OUTCOMES)[number];

interface Found {
  readonly rig: string;
  readonly header: Uint8Array;
  readonly chain: number;
  readonly atMs: number;
}

/** Solutions of one process of a rig. */
export interface Account {
  readonly rig: string;
  /** By nonce and chain: the solutions without a verdict. */
  readonly pending: Map<string, Found>;
  /** The headers of candidates, by their hashes in hex. Only their engine knows them. */
  readonly headers: Map<string, Uint8Array>;
}

export class Books {
  found = 0;
  /** Solutions whose rig was killed before their verdict. */
  killed = 0;
  readonly verdicts: Record<Outcome, number> = { accepted: 0, delivered: 0, rejected: 0, stale: 0, unknown: 0 };
  /** Number of solutions that were lost although a node would have taken them. */
  lost = 0;
  readonly #simulation: Simulation;
  readonly #network: SimulatedNetwork;
  readonly #nodes: () => readonly SimulatedNode[];
  readonly #accounts = new Set<Account>();
  /**
   * Solutions without success that a node knew, and would have taken, at their verdict. `hadTaker` tells whether this
   * node could be reached then. If not, the solution counts as lost if the node would still take it later.
   */
  readonly #doubtful: {
    readonly header: Uint8Array;
    readonly untilMs: number;
    readonly what: string;
    readonly hadTaker: boolean;
  }[] = [];

  constructor(simulation: Simulation, network: SimulatedNetwork, nodes: () => readonly SimulatedNode[]) {
    this.#simulation = simulation;
    this.#network = network;
    this.#nodes = nodes;
  }

  open(rig: string): Account {
    const account: Account = { rig, pending: new Map(), headers: new Map() };
    this.#accounts.add(account);
    return account;
  }

  /** The rig of the account was killed. */
  close(account: Account): void {
    this.killed += account.pending.size;
    account.pending.clear();
    this.#accounts.delete(account);
  }

  get pending(): number {
    return [...this.#accounts].reduce((sum, { pending }) => sum + pending.size, 0);
  }

  /** An engine has found a candidate, whose header nobody else can know from the events. */
  candidate(account: Account, header: Uint8Array): void {
    account.headers.set(toHex(powHash(header)), header);
  }

  /** Listens to the events of a rig. */
  listen(account: Account, event: MinerEvent): void {
    if (event.type === 'solution') this.#solution(account, event);
    else if (event.type === 'verdict') this.#verdict(account, event);
  }

  /** Checks what must be true at any time. */
  check(): void {
    this.#judgeDoubtful();
    const { accepted, delivered, rejected, stale, unknown } = this.verdicts;
    const sum = accepted + delivered + rejected + stale + unknown + this.pending + this.killed;
    if (sum !== this.found)
      this.#simulation.violate(`the books do not balance: ${this.found} found, ${sum} accounted for`);
  }

  /** Checks what must be true at the end: nothing is pending. */
  checkEnd(): void {
    for (const { pending, rig } of this.#accounts) {
      for (const [key, { atMs }] of pending) {
        this.#simulation.violate(`${rig} has no verdict on ${key}, found at ${(atMs / 1000).toFixed(1)} s`);
      }
    }
  }

  #solution(account: Account, event: Extract<MinerEvent, { type: 'solution' }>): void {
    const key = keyOf(event);
    this.found++;
    const hash = toHex(event.hash);
    const header = account.headers.get(hash);
    if (!header) {
      this.#simulation.violate(`${account.rig} reports a solution that its engine has not found`);
      return;
    }
    if (account.pending.has(key)) this.#simulation.violate(`${account.rig} reports ${key} twice`);
    account.pending.set(key, { rig: account.rig, header, chain: event.chain, atMs: this.#simulation.time.nowMs });
    this.#simulation.note(`${account.rig} found ${key}`);
  }

  #verdict(account: Account, event: Extract<MinerEvent, { type: 'verdict' }>): void {
    const key = keyOf(event);
    const found = account.pending.get(key);
    if (!found) {
      this.#simulation.violate(`${account.rig} has a verdict without a solution: ${key}`);
      return;
    }
    account.pending.delete(key);
    this.verdicts[event.outcome]++;
    this.#simulation.note(`${account.rig} ${event.outcome} ${key}: ${event.reason}`);
    if (event.outcome === 'accepted' || event.outcome === 'delivered') return;
    if (event.outcome === 'stale' && this.#isJustAnnounced(event.chain)) return;
    const takers = this.#nodes().filter((node) => node.mode !== 'refusing' && node.wouldAccept(found.header));
    if (takers.length === 0) return;
    const taker = takers.find(({ isReachable }) => isReachable);
    const what = `${account.rig} ${event.outcome} ${key}, which ${(taker ?? takers[0]).name} would take: ${event.reason}`;
    const untilMs = this.#simulation.time.nowMs + WAIT_MS;
    this.#doubtful.push({ header: found.header, untilMs, what, hadTaker: taker !== undefined });
  }

  /**
   * Whether a New Cut of this chain may have come a moment ago. It does not say which block it announces. So a work on
   * this very block goes stale, too, until the next work shows that its parent is still the newest block.
   */
  #isJustAnnounced(chain: number): boolean {
    return this.#nodes().some(({ announcedMs }) => this.#simulation.time.nowMs - announcedMs[chain] < ANNOUNCING_MS);
  }

  /** Of two solutions on one parent, only one can become a block. The other one may still be on its way to its node. */
  #judgeDoubtful(): void {
    while (this.#doubtful.length > 0 && this.#doubtful[0].untilMs <= this.#simulation.time.nowMs) {
      const { header, what, hadTaker } = this.#doubtful.shift()!;
      if (this.#network.hasSolutionOn(header)) continue;
      const isTaken = () => this.#nodes().some((node) => node.isReachable && node.wouldAccept(header));
      if (!hadTaker && !isTaken()) continue;
      this.lost++;
      this.#simulation.violate(`a solution is lost: ${what}`);
    }
  }
}

const keyOf = ({ chain, nonce }: { chain: number; nonce: bigint }) => `chain ${chain} nonce ${nonce.toString(16)}`;
