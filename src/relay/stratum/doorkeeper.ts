/**
 * Decides who may connect, and how much those from one address may send together: bounds connections and lines, and bans addresses.
 * It logs bans, at a bounded rate. Pure but for the log.
 */

import { LogBucket } from '../../system/log-bucket.ts';
import { TokenBucket } from '../../system/token-bucket.ts';
import type { RelayLog } from '../relay.ts';
import { Bans, siteOf } from './bans.ts';
import type { StratumLimits } from './limits.ts';

/**
 * How bad a connection as such is: 25,000 may come at once from an address, a whole farm that starts and is restarted twice, and then
 * 250 a second.
 */
const CONNECTION_POINTS = 0.004;
/** Lines of the log about bans that may come at once. */
const LOG_BURST = 10;
/** What comes from one address, or from one IPv6 network of 48 bits. */
interface Site {
  connections: number;
  readonly lines: SharedLines;
}

/**
 * Takes a line of a client that waits, if it may. @returns `waits` if it may not; `taken` if it has another one; `read` if it has none,
 * so that it does not wait any longer
 */
type GoOn = () => 'waits' | 'taken' | 'read';

/** The lines that all clients of an address share. Clients that find none wait, and get one after the other. */
export class SharedLines {
  readonly #bucket: TokenBucket;
  /** Those that have waited longest since their last line come first. */
  readonly #waiting = new Set<GoOn>();

  constructor({ addressLineBurst, addressLinesPerSecond }: StratumLimits, nowMs: number) {
    this.#bucket = new TokenBucket(addressLineBurst, addressLinesPerSecond, nowMs);
  }

  /** @param isWaiting whether the client waits for its turn @returns whether it may send a line */
  take(isWaiting: boolean, nowMs: number): boolean {
    return (isWaiting || this.#waiting.size === 0) && this.#bucket.take(1, nowMs);
  }

  wait(goOn: GoOn): void {
    this.#waiting.add(goOn);
  }

  leave(goOn: GoOn): void {
    this.#waiting.delete(goOn);
  }

  /** Has those that wait go on, each by a line in its turn, as far as there are lines. To be called several times a second. */
  serve(): void {
    // Who goes to the end of a set is met again.
    for (const goOn of this.#waiting) {
      const state = goOn();
      if (state === 'waits') continue;
      this.#waiting.delete(goOn);
      if (state === 'taken') this.#waiting.add(goOn);
    }
  }
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
  enter(address: string, nowMs: number): 'banned' | 'crowded' | SharedLines {
    if (this.#bans.isBanned(address, nowMs)) return 'banned';
    this.note(address, CONNECTION_POINTS, 'too many connections', nowMs);
    const name = siteOf(address);
    const site = this.#sites.get(name) ?? this.#former.get(name) ?? this.#newSite(nowMs);
    if (site.connections >= this.#limits.connectionsPerAddress) return 'crowded';
    this.#former.delete(name);
    this.#sites.set(name, site);
    site.connections++;
    return site.lines;
  }

  leave(address: string): void {
    const name = siteOf(address);
    const site = this.#sites.get(name);
    if (!site || --site.connections > 0) return;
    this.#sites.delete(name);
    this.#former.set(name, site);
    if (this.#former.size > this.#limits.remembered) this.#former.delete(this.#former.keys().next().value as string);
  }

  /** Has clients go on that wait for lines of their address. To be called several times a second. */
  serve(): void {
    for (const { lines } of this.#sites.values()) lines.serve();
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
    return { connections: 0, lines: new SharedLines(this.#limits, nowMs) };
  }
}
