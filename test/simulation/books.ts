/** The books of rigs on nodes: no solution is lost that a node would still take. */

import { equalBytes, toHex } from '#pickaxe/protocol/chain/bytes.js';
import { parentOf } from '#pickaxe/protocol/chain/work.js';
import type { SimulatedNetwork } from './network.ts';
import type { SimulatedNode } from './node.ts';
import { type Account, type Found, RigBooks, type VerdictEvent } from './rig-books.ts';
import type { Simulation } from './simulation.ts';

/** Time after which it is known whether a parent has got a block. */
const WAIT_MS = 30_000;

/**
 * Most solutions of a process that are refused in vain while one node refuses all and another takes them: eight tell it
 * that the node does so (docs/node.md), and some may be on their way.
 */
const MOST_REFUSED = 12;

/** Longest time from a New Cut, or from the refusal of a solution, until all miners mine the work fetched after it. */
const ANNOUNCING_MS = 5_000;

export class Books extends RigBooks {
  /** Number of solutions that were lost although a node would have taken them. */
  lost = 0;
  readonly #network: SimulatedNetwork;
  readonly #nodes: () => readonly SimulatedNode[];
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

  /** By process: solutions that were refused while nothing was wrong but, since then, a node that refuses all. */
  readonly #refusedInVain = new WeakMap<Account, { readonly sinceMs: number; readonly count: number }>();
  /** Solutions whose verdict says that no node has accepted them. */
  readonly #refused: { readonly header: Uint8Array; readonly what: string }[] = [];

  constructor(simulation: Simulation, network: SimulatedNetwork, nodes: () => readonly SimulatedNode[]) {
    super(simulation);
    this.#network = network;
    this.#nodes = nodes;
  }

  override check(): void {
    this.#judgeDoubtful();
    super.check();
  }

  /** Checks what must be true at the end: no accepted solution was reported as refused. */
  override checkEnd(): void {
    super.checkEnd();
    for (const { header, what } of this.#refused) {
      if (this.#network.accepted.get(toHex(header)) === 'accepted') this.simulation.violate(`accepted, but ${what}`);
    }
  }

  protected override judge(account: Account, found: Found, event: VerdictEvent, key: string): void {
    const { rig } = account;
    const { outcome, reason } = event;
    if (outcome === 'accepted' || outcome === 'delivered') return;
    const isKnownWork = this.#nodes().some((node) => node.mode === 'refusing' && node.wouldAccept(found.header));
    if (outcome !== 'stale' || isKnownWork) this.#countInVain(account);
    if (outcome !== 'unknown')
      this.#refused.push({ header: found.header, what: `${rig} ${outcome} ${key}: ${reason}` });
    if (outcome === 'stale' && (this.#isJustAnnounced(event.chain) || this.#isJustRefused(found.header))) return;
    const takers = this.#nodes().filter((node) => node.mode !== 'refusing' && node.wouldAccept(found.header));
    if (takers.length === 0) return;
    const taker = takers.find(({ isReachable }) => isReachable);
    const what = `${rig} ${event.outcome} ${key}, which ${(taker ?? takers[0]).name} would take: ${event.reason}`;
    const untilMs = this.simulation.time.nowMs + WAIT_MS;
    this.#doubtful.push({ header: found.header, untilMs, what, hadTaker: taker !== undefined });
  }

  #countInVain(account: Account): void {
    const { alone } = this.simulation;
    if (alone?.name !== 'a node refuses solutions') return;
    const { sinceMs } = alone;
    const before = this.#refusedInVain.get(account);
    const count = before?.sinceMs === sinceMs ? before.count + 1 : 1;
    this.#refusedInVain.set(account, { sinceMs, count });
    if (count === MOST_REFUSED) this.simulation.violate(`${account.rig} mines on at a node that refuses its solutions`);
  }

  /**
   * Whether a New Cut of this chain may have come a moment ago. It does not say which block it announces. So a work on
   * this very block goes stale, too, until the next work shows that its parent is still the newest block.
   */
  #isJustAnnounced(chain: number): boolean {
    return this.#nodes().some(({ announcedMs }) => this.simulation.time.nowMs - announcedMs[chain] < ANNOUNCING_MS);
  }

  /**
   * Whether a node has refused a solution on this parent a moment ago. A work ends when its first solution is sent. If
   * this one is refused, what was found from the same work meanwhile is not sent either.
   */
  #isJustRefused(header: Uint8Array): boolean {
    return this.simulation.time.nowMs - this.#network.refusedMs(header) < ANNOUNCING_MS;
  }

  /** Whether a solution on the parent of this header waits for its verdict. */
  #isPendingOn(header: Uint8Array): boolean {
    const isOn = (found: Found) => equalBytes(parentOf(found.header), parentOf(header));
    return [...this.accounts].some(({ pending }) => [...pending.values()].some(isOn));
  }

  /** Of two solutions on one parent, only one can become a block. The other one may still be on its way to its node. */
  #judgeDoubtful(): void {
    while (this.#doubtful.length > 0 && this.#doubtful[0].untilMs <= this.simulation.time.nowMs) {
      const doubtful = this.#doubtful.shift()!;
      const { header, what, hadTaker } = doubtful;
      if (this.#network.hasSolutionOn(header)) continue;
      if (this.#isPendingOn(header)) {
        this.#doubtful.push({ ...doubtful, untilMs: this.simulation.time.nowMs + WAIT_MS });
        continue;
      }
      const isTaken = () => this.#nodes().some((node) => node.isReachable && node.wouldAccept(header));
      if (!hadTaker && !isTaken()) continue;
      this.lost++;
      this.simulation.violate(`a solution is lost: ${what}`);
    }
  }
}
