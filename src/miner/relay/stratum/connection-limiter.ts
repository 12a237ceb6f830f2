/** Bounds the connections and the lines of each address. */

import { BoundedMap, LogBucket, TokenBucket } from '../../../base/system/bounded.ts';
import type { RelayLog } from '../relay.ts';
import { Bans } from './bans.ts';
import { siteOf } from './client-network.ts';
import type { StratumLimits } from './stratum-limits.ts';

/** Penalty points of a connection: an address may open 25,000 at once (a farm restarted twice), then 250 a second. */
const CONNECTION_POINTS = 0.004;
/** Capacity of the token bucket for log lines about bans. */
const LOG_BURST = 10;

/** An IPv4 address or an IPv6 /48, as `siteOf` returns it. */
interface Site {
  connections: number;
  readonly lines: SharedLines;
}

/**
 * Takes a waiting client's next line if there is a token for it.
 * @returns `waits` if there is no token, `taken` if the client has a further line, `read` if it has none and no longer
 * waits
 */
type GoOn = () => 'waits' | 'taken' | 'read';

/** The token bucket that all clients of an address share. When it is empty, clients wait and take turns. */
export class SharedLines {
  readonly #bucket: TokenBucket;
  /** The client that has waited longest comes first. */
  readonly #waiting = new Set<GoOn>();

  constructor({ addressLineBurst, addressLinesPerSecond }: StratumLimits, nowMs: number) {
    this.#bucket = new TokenBucket(addressLineBurst, addressLinesPerSecond, nowMs);
  }

  /** @param isWaiting whether it is a waiting client's turn @returns whether the client's next line may be taken */
  take(isWaiting: boolean, nowMs: number): boolean {
    return (isWaiting || this.#waiting.size === 0) && this.#bucket.take(1, nowMs);
  }

  wait(goOn: GoOn): void {
    this.#waiting.add(goOn);
  }

  leave(goOn: GoOn): void {
    this.#waiting.delete(goOn);
  }

  /** Takes one line of each waiting client in turn, as far as there are tokens. To be called several times a second. */
  serve(): void {
    // A client that is moved to the end of the set is visited again.
    for (const goOn of this.#waiting) {
      const state = goOn();
      if (state === 'waits') continue;
      this.#waiting.delete(goOn);
      if (state === 'taken') this.#waiting.add(goOn);
    }
  }
}

export class ConnectionLimiter {
  readonly #limits: StratumLimits;
  readonly #log: RelayLog;
  readonly #bans: Bans;
  readonly #logged: LogBucket;
  readonly #sites = new Map<string, Site>();
  /** Sites without connections that had some: who reconnects must not get a full bucket. */
  readonly #former: BoundedMap<string, Site>;

  constructor(limits: StratumLimits, log: RelayLog, nowMs: number) {
    this.#limits = limits;
    this.#log = log;
    this.#bans = new Bans(limits);
    this.#former = new BoundedMap(limits.remembered);
    this.#logged = new LogBucket(LOG_BURST, nowMs);
  }

  /**
   * @returns why the connection is refused, or the lines that it shares with others of its address. In the second case
   * `leave` must be called when the connection ends
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
  }

  serve(): void {
    for (const { lines } of this.#sites.values()) lines.serve();
  }

  /** Notes a penalty, and logs a ban that it causes. @param points see `stratumLimits.banPoints` */
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
