/**
 * The books of a fleet whose coordinator mines on pools: what a rig believes of a share agrees with what the pool has
 * told the coordinator, unless something was between the two.
 */

import { fleetLimits } from '#pickaxe/fleet/rig/rig-limits.js';
import { poolLimits } from '#pickaxe/miner/source/pool/pool-limits.js';
import { toHex } from '#pickaxe/protocol/chain/bytes.js';
import type { Work } from '#pickaxe/protocol/chain/work.js';
import type { SimulatedNats } from './nats.ts';
import type { PoolSite } from './pool-site.ts';
import type { Connection, PoolUser } from './pool-user.ts';
import type { Account, Found, VerdictEvent } from './rig-books.ts';
import { ShareBooks } from './share-books.ts';
import type { Simulation } from './simulation.ts';
import type { SimulatedProcess } from './virtual-time.ts';

/** Longest time from the finding of a share to its verdict while nothing is between a rig and its coordinator. */
const VERDICT_MS = poolLimits.submitMs + 2 * fleetLimits.solutionTimeoutMs;
/** Longest time until all rigs have heard of the end of a work, or of the return of their coordinator. */
const NEWS_MS = 6_000;
const DOUBLED = 'another rig has sent the same solution before';

export class FleetShareBooks extends ShareBooks {
  /** Return the present processes of all members of the fleet. */
  readonly processes: (() => SimulatedProcess)[] = [];
  readonly #nats: SimulatedNats;
  readonly #users: readonly PoolUser[];
  /** When a member was last killed, frozen or without a connection. */
  #troubleMs = 0;

  /** @param users the processes of the coordinator, oldest first */
  constructor(simulation: Simulation, nats: SimulatedNats, users: readonly PoolUser[]) {
    super(simulation);
    this.#nats = nats;
    this.#users = users;
  }

  override check(): void {
    const { nowMs } = this.simulation.time;
    const isInTrouble =
      this.processes.some((process) => process().isDead || process().isFrozen) ||
      [...this.#nats.links].some(({ state, heldUntilMs }) => !state.isConnected || heldUntilMs > nowMs);
    if (isInTrouble) this.#troubleMs = nowMs;
    super.check();
  }

  /** Checks a batch of hashes of a rig. @returns the pool that has given the work */
  checkBatch(rig: string, { header }: Work, beganMs: number): PoolSite | undefined {
    const connection = this.#connectionOf(header);
    if (!connection) {
      this.simulation.violate(`${rig} hashes a work that no pool has given`);
      return undefined;
    }
    // Both are times of monotonic clocks, which stand still while their machines sleep.
    const staleMs = (connection.wire.jobOf(header)?.staleMs ?? Number.POSITIVE_INFINITY) + this.#sleptMs(connection);
    const agoMs = beganMs + (this.processes.find((each) => each().name === rig)?.().sleptMs ?? 0) - staleMs;
    if (agoMs > NEWS_MS && this.#wasQuietSince(staleMs)) {
      this.simulation.violate(`${rig} has begun to hash a job ${agoMs.toFixed(0)} ms after its end`);
    }
    return connection.site;
  }

  protected override checkOldest(rig: string, { atMs }: Found): void {
    if (this.simulation.time.nowMs - Math.max(atMs, this.#troubleMs + NEWS_MS) <= VERDICT_MS) return;
    this.simulation.violate(`${rig} has no verdict on a share after ${VERDICT_MS / 1000} s`);
  }

  protected override judge({ rig }: Account, { header, atMs }: Found, event: VerdictEvent, key: string): void {
    const { outcome, reason } = event;
    const violate = (what: string) => this.simulation.violate(`${rig} ${what}: ${outcome} ${key} (${reason})`);
    const connection = this.#connectionOf(header);
    const job = connection?.wire.jobOf(header);
    if (!connection || !job) {
      violate('has a share of no job');
      return;
    }
    const wasQuiet = this.#wasQuietSince(atMs);
    const credit = connection.site.creditOf(header);
    const share = this.#shareOf(header);
    if (outcome === 'accepted') {
      if (share?.answer?.kind !== 'accepted' || credit === undefined) violate('believes that a share is accepted');
      else this.accept(event, credit);
    } else if (reason === DOUBLED) {
      if (!share) violate('has found a share that no other rig has sent');
    } else if (share?.answer) {
      const isLost = outcome === 'unknown' && !wasQuiet;
      if (share.answer.kind !== outcome && !isLost && !this.#isUnread(share.answer.atMs, connection))
        violate(`has another verdict than the answer, ${share.answer.kind}`);
    } else if (share) {
      if (outcome !== 'unknown') violate('has a verdict on a share without an answer');
    } else if (outcome === 'stale') {
      const { process } = this.#users.at(-1) as PoolUser;
      const isValid = () => connection.wire.isOpen && !process.isDead && this.#shareOf(header) === undefined;
      if (job.staleMs === undefined && wasQuiet && isValid()) {
        this.doubt(`${rig} has not sent ${key}, whose job was valid: ${reason}`, isValid);
      }
    } else if (wasQuiet) violate('has a verdict on a share that was not sent');
  }

  /** Whether the answer came behind a line that ended its connection, which is not read. */
  #isUnread(atMs: number, { wire }: Connection): boolean {
    return !wire.isOpen && wire.endedMs === atMs;
  }

  /** Whether nothing was between the members since a while before this time. */
  #wasQuietSince(atMs: number): boolean {
    return this.#troubleMs + NEWS_MS < atMs;
  }

  #connectionOf(header: Uint8Array): Connection | undefined {
    for (const user of this.#users.toReversed()) {
      const connection = user.connectionOf(header);
      if (connection) return connection;
    }
    return undefined;
  }

  #sleptMs(connection: Connection): number {
    return this.#users.find(({ connections }) => connections.includes(connection))?.process.sleptMs ?? 0;
  }

  #shareOf(header: Uint8Array) {
    const hex = toHex(header);
    return this.#users.find(({ shares }) => shares.has(hex))?.shares.get(hex);
  }
}
