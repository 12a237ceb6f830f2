/** Bounds what clients cost the stratum server. Tests use smaller limits. Pure, except for log lines about bans. */

import { isIPv6, SocketAddress } from 'node:net';
import { BoundedMap, LogBucket, TokenBucket } from '../../../base/system/bounded.ts';
import type { RelayLog } from '../relay.ts';

export const stratumLimits = {
  /** Maximum number of connections: one for each nonce1, and some without. `mostConnections` may lower it. */
  connections: 66_560,
  /** The same from one address, such as a farm's router. IPv6 addresses count by their /48. */
  connectionsPerAddress: 8_192,
  /** Maximum length of a line. The longest, `mining.submit` with a name of 256 characters, has a few hundred bytes. */
  lineBytes: 4_096,
  /** Time limit for subscribing and authorizing a worker. Miners take a second. */
  loginMs: 30_000,
  /** Time limit for a proxy's header, and for the TLS handshake. */
  handshakeMs: 5_000,
  /** Maximum number of bytes that wait for a client that does not read: two minutes of jobs for the fastest ASIC. */
  pendingBytes: 160_000,
  /**
   * Token bucket for a client's lines. An ASIC of 1 PH/s sends 200 shares a second, but only until its rate is
   * estimated from the first eight. The burst delays all other clients. At most half of the lines may be other than
   * shares that meet their target.
   */
  lineBurst: 200,
  linesPerSecond: 100,
  /**
   * Token bucket for all lines from an address (IPv6: from a /48). 8,192 miners with a share each 10 s send 820 lines a
   * second. 2,000 shares a second take 6 % of a core.
   */
  addressLineBurst: 4_000,
  addressLinesPerSecond: 2_000,
  /**
   * Token bucket for a client's lines that do not count for its address: enough to log in and to learn its rate, so
   * that a farm of fast miners can start at once; then one each 4 s. A client whose address has used up its lines is
   * not read until there are more.
   */
  reservedLineBurst: 20,
  reservedLinesPerSecond: 0.25,
  /** Maximum number of meaningless lines at once; one more may come each minute. Each is answered with an error. */
  junkLines: 10,
  /** Token bucket for the share ledger's lines about the sessions of one address. */
  ledgerBurst: 100_000,
  ledgerLinesPerSecond: 200,
  /** Maximum number of an address's workers whose shares without lines are summed up by name. */
  ledgerWorkers: 1_000,
  /** Maximum number of workers of a connection. Proxies have several. */
  workersPerSession: 16,
  /**
   * Token bucket for an address's penalty points; an empty bucket means a ban. Ten connections that were cut off for
   * floods or junk use it up. Bad shares cost nothing.
   */
  banPoints: 100,
  banPointsPerMinute: 60,
  /** Duration of a ban: short, so that a corrected client is soon back. */
  banMs: 300_000,
  /** Maximum number of addresses with remembered penalties, and of workers with remembered hashrates. */
  remembered: 10_000,
  /** Time between two checks of each session: the finest interval of new jobs, and the accuracy of time limits. */
  tickMs: 100,
  reportMs: 5_000,
  /** Time between two log lines about refused clients. */
  logMs: 60_000,
};
export type StratumLimits = Readonly<typeof stratumLimits>;

/** Files reserved for the HTTP server's 64 clients, nodes, logs and GPUs; and for each CPU thread. */
const KEPT_FILES = 256;
const KEPT_FILES_PER_THREAD = 4;
/** Sessions may use a quarter of the memory, and each needs less than `SESSION_BYTES`. */
const MEMORY_SHARE = 1 / 4;
const SESSION_BYTES = 65_536;

export interface Means {
  /** Maximum number of open files of the process; absent if the system has no such limit. */
  readonly files?: number | undefined;
  /** Memory in bytes: the machine's, or the container's if that is less. */
  readonly memory: number;
  readonly threads: number;
}

/** @returns the maximum number of connections, and the resource that lowers it, if any */
export function mostConnections({ files, memory, threads }: Means): { count: number; short?: 'files' | 'memory' } {
  // If files are few, half of them are left for mining.
  const kept = KEPT_FILES + KEPT_FILES_PER_THREAD * threads;
  const byFiles = files === undefined ? Number.POSITIVE_INFINITY : Math.max(files - kept, Math.floor(files / 2));
  const byMemory = Math.floor((MEMORY_SHARE * memory) / SESSION_BYTES);
  const { connections } = stratumLimits;
  if (Math.min(byFiles, byMemory) >= connections) return { count: connections };
  return byFiles <= byMemory ? { count: byFiles, short: 'files' } : { count: byMemory, short: 'memory' };
}

/**
 * Reasons for refusing or disconnecting clients. When they connect: `banned`, `crowded` (too many from one address),
 * `full` (too many in all). Later: `handshake` (neither TLS nor a proxy's header, or TLS on a port
 * without it), `timeout` (no handshake or login in
 * time), `flood` (too many or too long lines), `junk` (meaningless lines), `unread` (does not read), `idle` (brought
 * nothing while the server was full).
 */
export const REFUSALS = [
  'banned',
  'crowded',
  'flood',
  'full',
  'handshake',
  'idle',
  'junk',
  'timeout',
  'unread',
] as const;
export type Refusal = (typeof REFUSALS)[number];

/* Bounds connections and lines by address, and bans addresses. */

/** Penalty points of a connection: an address may open 25,000 at once (a farm restarted twice), then 250 a second. */
const CONNECTION_POINTS = 0.004;
/** Capacity of the token bucket for log lines about bans. */
const LOG_BURST = 10;

/** One address, or one IPv6 /48. */
interface Site {
  connections: number;
  readonly lines: SharedLines;
}

/**
 * Takes a waiting client's next line if there is a token for it. @returns `waits` without a token, `taken` if the
 * client has another line, `read` if it has none and waits no longer
 */
type GoOn = () => 'waits' | 'taken' | 'read';

/** The token bucket that all clients of an address share. When it is empty, clients wait and take turns. */
export class SharedLines {
  readonly #bucket: TokenBucket;
  /** The longest wait comes first. */
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
  /** Sites that had connections, so that reconnecting gains no tokens. */
  readonly #former: BoundedMap<string, Site>;

  constructor(limits: StratumLimits, log: RelayLog, nowMs: number) {
    this.#limits = limits;
    this.#log = log;
    this.#bans = new Bans(limits);
    this.#former = new BoundedMap(limits.remembered);
    this.#logged = new LogBucket(LOG_BURST, nowMs);
  }

  /** @returns why the connection is refused, or the lines that its address shares; then `leave` must be called */
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

  /** @param points the penalty; see `stratumLimits.banPoints` */
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
 * Bans addresses that flood the server or send junk: their new connections are refused for some minutes. Existing
 * connections that behave go on, because a whole farm can have one address. Pure.
 */

type BanLimits = Pick<StratumLimits, 'banPoints' | 'banPointsPerMinute' | 'banMs' | 'remembered'>;

interface Known {
  readonly bucket: TokenBucket;
  bannedUntilMs: number;
}

export class Bans {
  readonly #limits: BanLimits;
  /** By `networkOf` the address. */
  readonly #known: BoundedMap<string, Known>;

  constructor(limits: BanLimits) {
    this.#limits = limits;
    this.#known = new BoundedMap(limits.remembered);
  }

  isBanned(address: string, nowMs: number): boolean {
    const known = this.#known.get(networkOf(address));
    return known !== undefined && known.bannedUntilMs > nowMs;
  }

  /** @param points the penalty @returns whether it has caused a ban */
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

/** A /48 is a usual allocation, and contains 65,536 /64 networks. */
const SITE_BITS = 48;

/** @returns an IPv4 address unchanged, or an IPv6 address's /48. Limits per address apply to this */
export function siteOf(address: string): string {
  return networkOf(address, SITE_BITS);
}

/**
 * @param bits length of an IPv6 prefix, a multiple of 16. The default is 64: one client usually controls a /64
 * @returns an IPv4 address unchanged, or an IPv6 address's network
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

const MAPPED = '::ffff:';

/** @returns an IPv4 address also for its IPv6 forms (RFC 4291 §2.5.5.2), like `::ffff:192.0.2.5`; else `address` */
export function plainAddress(address: string): string {
  if (!isIPv6(address)) return address;
  // The system writes an IPv4 address inside an IPv6 address with dots.
  const written = new SocketAddress({ address, family: 'ipv6' }).address;
  return written.startsWith(MAPPED) && written.includes('.') ? written.slice(MAPPED.length) : address;
}
