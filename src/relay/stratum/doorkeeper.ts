/**
 * Decides who may connect, and how much those from one address may send together: bounds connections and lines, and bans addresses.
 * It logs bans, at a bounded rate. Pure but for the log.
 */

import { LogBucket } from '../../system/log-bucket.ts';
import { TokenBucket } from '../../system/token-bucket.ts';
import type { RelayLog } from '../relay.ts';
import { Bans, networkOf } from './bans.ts';
import type { StratumLimits } from './limits.ts';

/** How bad a connection as such is: 10,000 may come at once from an address, a whole farm after a restart, and then 100 a second. */
const CONNECTION_POINTS = 0.01;
/** Lines of the log about bans that may come at once. */
const LOG_BURST = 10;
/** Whoever has an IPv6 network of 48 bits, which is a usual size, has 65,536 of 64 bits. All of them together count as one address. */
const SITE_BITS = 48;

/** What comes from one address, or from one IPv6 network of 48 bits. */
interface Site {
  connections: number;
  readonly lines: TokenBucket;
}

export class Doorkeeper {
  readonly #limits: StratumLimits;
  readonly #log: RelayLog;
  readonly #bans: Bans;
  readonly #logged: LogBucket;
  /** Those that have connections. */
  readonly #sites = new Map<string, Site>();
  /** Those that had some, so that a client gains no lines by connecting again; those that left first come first. */
  readonly #former = new Map<string, Site>();

  constructor(limits: StratumLimits, log: RelayLog, nowMs: number) {
    this.#limits = limits;
    this.#log = log;
    this.#bans = new Bans(limits);
    this.#logged = new LogBucket(LOG_BURST, nowMs);
  }

  /**
   * @returns why this connection is refused; or, when it may stay, the budget of lines that it shares with the others from its
   * address. In that case `leave` must be called at its end
   */
  enter(address: string, nowMs: number): 'banned' | 'crowded' | TokenBucket {
    if (this.#bans.isBanned(address, nowMs)) return 'banned';
    this.note(address, CONNECTION_POINTS, 'too many connections', nowMs);
    const name = networkOf(address, SITE_BITS);
    const site = this.#sites.get(name) ?? this.#former.get(name) ?? this.#newSite(nowMs);
    if (site.connections >= this.#limits.connectionsPerAddress) return 'crowded';
    this.#former.delete(name);
    this.#sites.set(name, site);
    site.connections++;
    return site.lines;
  }

  leave(address: string): void {
    const name = networkOf(address, SITE_BITS);
    const site = this.#sites.get(name);
    if (!site || --site.connections > 0) return;
    this.#sites.delete(name);
    this.#former.set(name, site);
    if (this.#former.size > this.#limits.remembered) this.#former.delete(this.#former.keys().next().value as string);
  }

  /** @param points how bad it was what came from this address */
  note(address: string, points: number, reason: string, nowMs: number): void {
    if (points === 0 || !this.#bans.note(address, points, nowMs)) return;
    const unlogged = this.#logged.take(nowMs);
    if (unlogged === undefined) return;
    const others = unlogged > 0 ? `; so were ${unlogged} others` : '';
    const minutes = Math.ceil(this.#limits.banMs / 60_000);
    this.#log.warn(`${address} is banned for ${minutes} minutes: ${reason}${others}`);
  }

  #newSite(nowMs: number): Site {
    const { addressLineBurst, addressLinesPerSecond } = this.#limits;
    return { connections: 0, lines: new TokenBucket(addressLineBurst, addressLinesPerSecond, nowMs) };
  }
}
