/**
 * Decides who may connect, and how much those from one address may send together: bounds connections and lines, and
 * bans addresses. It logs bans, at a bounded rate. Pure but for the log.
 */

import { isIPv6, SocketAddress } from 'node:net';
import { BoundedMap } from '../../system/bounded.ts';
import { LogBucket, TokenBucket } from '../../system/buckets.ts';
import type { RelayLog } from '../relay.ts';
import type { StratumLimits } from './limits.ts';

/**
 * How bad a connection as such is: 25,000 may come at once from an address, a whole farm that starts and is restarted
 * twice, and then 250 a second.
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
 * Takes a line of a client that waits, if it may. @returns `waits` if it may not; `taken` if it has another one; `read`
 * if it has none, so that it does not wait any longer
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

  /**
   * Has those that wait go on, each by a line in its turn, as far as there are lines. To be called several times a
   * second.
   */
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

export class ConnectionLimiter {
  readonly #limits: StratumLimits;
  readonly #log: RelayLog;
  readonly #bans: Bans;
  readonly #logged: LogBucket;
  /** Those that have connections. */
  readonly #sites = new Map<string, Site>();
  /** Those that had some, so that a client gains no lines by connecting again; those that left first come first. */
  readonly #former: BoundedMap<string, Site>;

  constructor(limits: StratumLimits, log: RelayLog, nowMs: number) {
    this.#limits = limits;
    this.#log = log;
    this.#bans = new Bans(limits);
    this.#former = new BoundedMap(limits.remembered);
    this.#logged = new LogBucket(LOG_BURST, nowMs);
  }

  /**
   * @returns why this connection is refused; or, when it may stay, the budget of lines that it shares with the others
   *   from its
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

/*
 * Bans addresses that flood the server or send junk: for some minutes, no new connection of theirs is accepted.
 * Connections that behave go on, because a whole farm can have one address. Pure.
 */

type BanLimits = Pick<StratumLimits, 'banPoints' | 'banPointsPerMinute' | 'banMs' | 'remembered'>;

interface Known {
  readonly bucket: TokenBucket;
  bannedUntilMs: number;
}

export class Bans {
  readonly #limits: BanLimits;
  /** By `networkOf` their address; those that did something wrong least recently come first. */
  readonly #known: BoundedMap<string, Known>;

  constructor(limits: BanLimits) {
    this.#limits = limits;
    this.#known = new BoundedMap(limits.remembered);
  }

  isBanned(address: string, nowMs: number): boolean {
    const known = this.#known.get(networkOf(address));
    return known !== undefined && known.bannedUntilMs > nowMs;
  }

  /** @param points how bad it was what came from this address @returns whether it is banned because of that */
  note(address: string, points: number, nowMs: number): boolean {
    const { banPoints, banPointsPerMinute, banMs } = this.#limits;
    const network = networkOf(address);
    const bucket = () => new TokenBucket(banPoints, banPointsPerMinute / 60, nowMs);
    const known = this.#known.get(network) ?? { bucket: bucket(), bannedUntilMs: 0 };
    this.#known.set(network, known);
    if (known.bannedUntilMs > nowMs || known.bucket.take(points, nowMs)) return false;
    known.bannedUntilMs = nowMs + banMs;
    return true;
  }
}

/** Whoever has an IPv6 network of 48 bits, which is a usual size, has 65,536 of 64 bits. */
const SITE_BITS = 48;

/**
 * @returns an IPv4 address as it is; of an IPv6 address its network of 48 bits. What is bounded for each address is
 *   bounded for it
 */
export function siteOf(address: string): string {
  return networkOf(address, SITE_BITS);
}

/**
 * @param bits how many bits of an IPv6 address make its network, a multiple of 16. Whoever has one address has all that
 *   begin with
 * the same 64 bits
 * @returns an IPv4 address as it is; of an IPv6 address its network
 */
export function networkOf(address: string, bits = 64): string {
  const plain = plainAddress(address);
  if (!isIPv6(plain)) return plain;
  const [head, tail] = plain.replace(/%.*$/, '').split('::');
  const groups = head === '' ? [] : head.split(':');
  const last = tail ? tail.split(':') : [];
  const zeros = tail === undefined ? 0 : 8 - groups.length - last.length - (plain.includes('.') ? 1 : 0);
  const all = [...groups, ...Array<string>(Math.max(0, zeros)).fill('0'), ...last];
  return `${all
    .slice(0, bits / 16)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/${bits}`;
}

/* Addresses of clients in one form, whoever tells them: the system, or a proxy. Pure. */

const MAPPED = '::ffff:';

/**
 * @returns an IPv4 address as such, also where IPv6 stands for it (RFC 4291 §2.5.5.2) in any of its spellings, such as
 * `::ffff:192.0.2.5` and `0:0:0:0:0:ffff:c000:205`; other addresses unchanged
 */
export function plainAddress(address: string): string {
  if (!isIPv6(address)) return address;
  // The system writes an IPv4 address inside an IPv6 address with dots.
  const written = new SocketAddress({ address, family: 'ipv6' }).address;
  return written.startsWith(MAPPED) && written.includes('.') ? written.slice(MAPPED.length) : address;
}
