/** Limits the connections and the lines of each client address. */

import { BoundedMap, LogBucket, TokenBucket } from '../../../base/system/bounded.ts';
import type { RelayLog } from '../relay.ts';
import { Bans } from './bans.ts';
import { siteOf } from './client-network.ts';
import type { StratumLimits } from './stratum-limits.ts';

/**
 * Penalty points for each new connection. With 0.004 points, an address may open 25,000 connections at once, and 250 a
 * second in the long run. So 8,192 clients, the maximum of one address, may each connect three times at once.
 */
const CONNECTION_POINTS = 0.004;
/**
 * If no lines were served for this time, the server was held up: its process was suspended, or the machine was too
 * busy.
 */
const HELD_UP_MS = 1_000;
/** Maximum number of log lines about bans in a burst. */
const LOG_BURST = 10;

/** The state of an IPv4 address or an IPv6 /48 network (see `siteOf`). */
interface Site {
  connections: number;
  readonly lines: SharedLines;
}

/**
 * Takes a waiting client's next line if the token buckets allow it.
 * @returns `waits` if no line may be taken; `taken` if a line was taken and another one waits; `read` if no line waits
 *   any more or the connection has ended
 */
type GoOn = () => 'waits' | 'taken' | 'read';

/**
 * A token bucket for lines. All clients of an address share it. When the bucket is empty, the clients wait and take
 * turns.
 */
export class SharedLines {
  readonly #bucket: TokenBucket;
  /** The waiting clients, in the order of their turns. */
  readonly #waiting = new Set<GoOn>();

  constructor({ addressLineBurst, addressLinesPerSecond }: StratumLimits, nowMs: number) {
    this.#bucket = new TokenBucket(addressLineBurst, addressLinesPerSecond, nowMs);
  }

  /**
   * Takes a token for a line. While clients are waiting, only a waiting client can get a token.
   * @param isWaiting whether the client is one of the waiting clients
   * @returns whether the client's next line may be taken
   */
  take(isWaiting: boolean, nowMs: number): boolean {
    return (isWaiting || this.#waiting.size === 0) && this.#bucket.take(1, nowMs);
  }

  wait(goOn: GoOn): void {
    this.#waiting.add(goOn);
  }

  leave(goOn: GoOn): void {
    this.#waiting.delete(goOn);
  }

  /**
   * Takes lines of the waiting clients, one line of each client in turn, until the tokens or the lines are used up.
   * Must be called several times a second.
   */
  serve(): void {
    // A client that has a further line is moved to the end of the set, and this loop comes to it again.
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
  /**
   * Sites whose connections have all ended. Their token buckets are kept, so that a client cannot get a full bucket by
   * connecting again.
   */
  readonly #former: BoundedMap<string, Site>;
  #servedMs: number;
  /** Time at which the last hold-up had ended (monotonic). */
  #heldUpMs = Number.NEGATIVE_INFINITY;

  constructor(limits: StratumLimits, log: RelayLog, nowMs: number) {
    this.#limits = limits;
    this.#log = log;
    this.#bans = new Bans(limits);
    this.#former = new BoundedMap(limits.remembered);
    this.#logged = new LogBucket(LOG_BURST, nowMs);
    this.#servedMs = nowMs;
  }

  /**
   * Counts a new connection.
   * @returns why the connection is refused; otherwise the token bucket that it shares with the other connections of its
   *   address. After `enter` has returned a token bucket, `leave` must be called when the connection ends
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

  /** Must be called several times a second. */
  serve(nowMs: number): void {
    this.#heldUpMs = this.heldUpMs(nowMs);
    this.#servedMs = nowMs;
    for (const { lines } of this.#sites.values()) lines.serve();
  }

  /**
   * @returns the time until which the server was last held up (monotonic), which is now if it has not served any lines
   *   since; −∞ if it never was
   */
  heldUpMs(nowMs: number): number {
    return nowMs - this.#servedMs >= HELD_UP_MS ? nowMs : this.#heldUpMs;
  }

  /**
   * Counts penalty points of an address. If the points cause a ban, the ban is logged, unless many bans were logged
   * shortly before.
   * @param points see `stratumLimits.banPoints`
   */
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
