/**
 * A process that mines on pools, as a judge sees it: its connections and shares, when it may connect, and which pool it
 * should use.
 */

import type { MinerEvent } from '#pickaxe/miner/events/events.js';
import { poolLimits } from '#pickaxe/miner/source/pool/pool-limits.js';
import type { OpenConnection } from '#pickaxe/miner/source/pool/pool-source.js';
import type { Work } from '#pickaxe/protocol/chain/work.js';
import { Dialling } from './dialling.ts';
import type { Pipe } from './pipe.ts';
import type { PoolSite } from './pool-site.ts';
import type { Simulation } from './simulation.ts';
import type { SimulatedProcess } from './virtual-time.ts';
import { type SentShare, Wire } from './wire.ts';

/** A connection, with what a judge at the miner's end reads. */
export interface Connection {
  readonly site: PoolSite;
  readonly pipe: Pipe;
  readonly wire: Wire;
}

export interface PoolUserOptions {
  readonly name: string;
  readonly simulation: Simulation;
  readonly process: SimulatedProcess;
  /** The pools in order of preference. */
  readonly sites: readonly PoolSite[];
}

/** Longest trial of a preferred pool, and the words of its event. */
const MOST_TRIAL_S = 300;
const TRIAL = /must give work for (\d+) s before/;

/** Longest time until a pool that is tried again is found to be still of no use: its first shares wait for answers. */
const TRIED_MS = 60_000;
/** Time after which failover closes the connection of a pool that is left, and its shares wait no longer. */
const CLOSED_MS = 2_000 + poolLimits.submitAfterStopMs;
/** Longest time for which a pool that is well gives no sign of life. */
const SLOW_MS = 5_000;

export class PoolUser {
  readonly name: string;
  readonly process: SimulatedProcess;
  readonly connections: Connection[] = [];
  /** By header in hex: the shares that were sent. */
  readonly shares = new Map<string, SentShare>();
  /** The headers of shares that were not sent, in hex. */
  readonly unsent = new Set<string>();
  readonly #options: PoolUserOptions;
  readonly #diallings = new Map<PoolSite, Dialling>();
  readonly #unhealthy = new Set<string>();
  /** By URL: when a pool that had been unhealthy was last tried again. */
  readonly #triedMs = new Map<string, number>();
  readonly #trialsMs = new Map<string, number>();
  /** By URL: when another pool has taken over from this one. */
  readonly #leftMs = new Map<string, number>();
  /** The pool that is used, and since when. */
  #active: PoolSite;
  #activeSinceMs = 0;

  constructor(options: PoolUserOptions) {
    const { name, process, sites } = options;
    this.name = name;
    this.process = process;
    this.#options = options;
    this.#active = sites[0];
    for (const site of sites) this.#diallings.set(site, new Dialling());
    process.onKill(() => {
      for (const { wire, pipe } of this.connections) if (wire.isOpen) pipe.reset();
    });
  }

  /** The time of this process, by which all times here are measured: its monotonic clock. */
  get #nowMs(): number {
    return this.process.clock.monotonicMs();
  }

  get user(): string {
    return userOf(this.name);
  }

  /** @returns the connection over which a job with this header came */
  connectionOf(header: Uint8Array): Connection | undefined {
    return this.connections.findLast(({ wire }) => wire.jobOf(header) !== undefined);
  }

  /** Checks a batch of hashes that began then. @returns the pool that has given the work */
  checkBatch(work: Work, beganMs: number): PoolSite | undefined {
    const connection = this.connectionOf(work.header);
    if (!connection) {
      this.#violate('hashes a work that no pool has given');
      return undefined;
    }
    const { wire, site } = connection;
    const staleMs = wire.jobOf(work.header)?.staleMs;
    if (staleMs !== undefined && staleMs < beganMs) {
      this.#violate(`has begun to hash a job ${(beganMs - staleMs).toFixed(0)} ms after its end`);
    }
    const { value, bytes } = work.nonce1;
    const nonce1 = wire.jobOf(work.header)?.nonce1 ?? '';
    if (2 * bytes !== nonce1.length || (bytes > 0 && Number.parseInt(nonce1, 16) !== value)) {
      this.#violate(`hashes a job of ${site.name} with another nonce1`);
    }
    if (wire.isOpen && (wire.changesMs.at(-1) ?? 0) < beganMs && !wire.isNewest(work)) {
      this.#violate(`hashes an old job or target of ${site.name}`);
    }
    if (site !== this.#active && this.#activeSinceMs < beganMs) this.#violate(`hashes for ${site.name}, which is left`);
    return site;
  }

  /** Checks what must be true at any time. */
  check(): void {
    const { isDead, isFrozen, thawedMs, sleptMs } = this.process;
    if (isDead || isFrozen || this.isEnding || thawedMs - sleptMs > this.#nowMs - 1_000) return;
    const bad = this.connections.find(({ wire }) => wire.isOpen && wire.mustEnd);
    if (bad) this.#violate(`keeps its connection to ${bad.site.name}, which sends too much`);
    for (const [{ name }, dialling] of this.#diallings) {
      if (dialling.isLate(this.#nowMs)) this.#violate(`does not connect to ${name} again`);
    }
  }

  /** Set when the process was asked to end. */
  isEnding = false;

  /**
   * Whether this process may use another pool than the preferred one, or none: the pool is unhealthy, on trial, or out
   * of reach for a documented time.
   */
  mayLeave(site: PoolSite): boolean {
    const nowMs = this.#nowMs;
    if (this.#unhealthy.has(site.url) || this.#diallings.get(site)?.mayWait(nowMs)) return true;
    const connection = this.connections.findLast((each) => each.site === site && each.wire.isOpen);
    if (!connection) return false;
    // Work that came before it was left proves nothing.
    const workMs = connection.wire.firstWorkMs(this.#leftMs.get(site.url)) ?? nowMs;
    return connection.pipe.isDeaf || nowMs <= workMs + (this.#trialsMs.get(site.url) ?? 0);
  }

  /**
   * Whether the connection in use is half-open, and this process cannot know: the pool has never answered a share of
   * it, and some pools never do.
   */
  get isBlind(): boolean {
    const isActive = (connection: Connection) => connection.site === this.#active;
    const isDeaf = this.connections.some((each) => isActive(each) && each.wire.isOpen && each.pipe.isDeaf);
    const wires = new Set(this.connections.filter(isActive).map(({ wire }) => wire));
    return isDeaf && ![...this.shares.values()].some(({ wire, answer }) => answer && wires.has(wire));
  }

  /** Whether a connection to this pool may be closed although shares wait for answers: another pool is used. */
  mayClose(site: PoolSite): boolean {
    return site !== this.#active && this.#nowMs - this.#activeSinceMs >= CLOSED_MS - 1;
  }

  /** Checks that this process mines the best pool that it may. */
  checkChoice(): void {
    const { sites } = this.#options;
    for (const site of sites.slice(0, sites.indexOf(this.#active))) {
      if (!this.mayLeave(site)) this.#violate(`mines on ${this.#active.name} although ${site.name} can be used`);
    }
  }

  /** Checks that this process has left a pool that has been of no use for a while, when another one is well. */
  checkLeft(): void {
    const { isDead, isFrozen } = this.process;
    const isConnected = this.connections.some(({ site, wire }) => site === this.#active && wire.isOpen);
    if (isDead || isFrozen || this.isBlind || !this.#active.isUseless(isConnected)) return;
    if (this.#nowMs - (this.#triedMs.get(this.#active.url) ?? Number.NEGATIVE_INFINITY) < TRIED_MS) return;
    // The other pool may have been slow to answer for a moment.
    if (this.#nowMs - this.#activeSinceMs < SLOW_MS) return;
    const isGood = (site: PoolSite) => site !== this.#active && !site.isUseless(false) && !this.mayLeave(site);
    const other = this.#options.sites.find(isGood);
    if (other) this.#violate(`still mines on ${this.#active.name}, although ${other.name} is well`);
  }

  /** Checks what must be true after the end. */
  checkEnd(): void {
    const open = this.connections.filter(({ wire }) => wire.isOpen);
    if (open.length > 0) this.#violate(`has ended with ${open.length} open connections`);
  }

  /** Opens a connection. A rig composed with it uses this process's pools. */
  readonly openConnection: OpenConnection = async ({ host }, { timeoutMs }, stop) => {
    const { simulation, sites } = this.#options;
    const { thawedMs, sleptMs } = this.process;
    const site = sites.find((each) => each.host === host);
    if (!site) throw new Error(`there is no pool at ${host}`);
    const dialling = this.#diallings.get(site) as Dialling;
    const wrong = dialling.begin(this.#nowMs, thawedMs - sleptMs);
    if (wrong) this.#violate(`${wrong} (${site.name})`);
    const attempt = dialling.attempts;
    if (this.connections.some((each) => each.site === site && each.wire.isOpen)) {
      this.#violate(`opens a second connection to ${site.name}`);
    }
    try {
      const [end, pipe] = await site.connect(this.process, timeoutMs, stop);
      const wire = new Wire(end, {
        user: this.user,
        nowMs: () => this.#nowMs,
        violate: (what) => this.#violate(`${what} (${site.name})`),
        onShare: (header, share) => {
          this.shares.set(header, share);
          if (this.unsent.has(header)) this.#violate('has sent a share after its verdict');
        },
        onEnd: () => {
          // The next connection may have been begun in the same moment.
          if (this.process.isDead || dialling.attempts !== attempt) return;
          const workMs = Math.max(0, this.#nowMs - (wire.firstWorkMs() ?? this.#nowMs));
          dialling.end(this.#nowMs, whyOf(wire), workMs, wire.reconnectMs);
        },
      });
      this.connections.push({ site, pipe, wire });
      simulation.note(`${this.name} is connected to ${site.name}`);
      return end;
    } catch (fault) {
      if (dialling.attempts === attempt) dialling.end(this.#nowMs, 'network', 0);
      throw fault;
    }
  };

  /** Listens to the events of this process. */
  readonly listen = (event: MinerEvent): void => {
    if (event.type !== 'source' || event.kind !== 'pool') return;
    const { source, state, reason } = event;
    this.#options.simulation.note(`${this.name}: ${source} ${state}: ${reason}`);
    if (state === 'unhealthy') this.#unhealthy.add(source);
    if (state === 'healthy' && this.#unhealthy.delete(source)) this.#triedMs.set(source, this.#nowMs);
    if (state === 'standby') {
      for (const [site, dialling] of this.#diallings) if (site.url === source) dialling.forget();
    }
    const next = this.#options.sites.find(({ url }) => url === source);
    if (!next || !reason.startsWith('takes over')) return;
    const seconds = Number(TRIAL.exec(reason)?.[1] ?? 0);
    if (seconds > MOST_TRIAL_S) this.#violate(`has a trial of ${seconds} s`);
    this.#leftMs.set(this.#active.url, this.#nowMs);
    this.#trialsMs.set(this.#active.url, 1_000 * seconds);
    this.#active = next;
    this.#activeSinceMs = this.#nowMs;
  };

  #violate(what: string): void {
    if (!this.process.isDead) this.#options.simulation.violate(`${this.name} ${what}`);
  }
}

/** @returns the name of a rig or a coordinator at its pools */
export const userOf = (name: string): string => `k:abc.${name}`;

/** Why a connection has ended, as far as its lines tell. */
function whyOf({ wasRefused, isGarbled, hasReceived, hasEnded }: Wire) {
  if (isGarbled) return 'unsure';
  return wasRefused || (!hasReceived && hasEnded) ? 'refused' : 'network';
}
