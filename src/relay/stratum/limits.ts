/**
 * The limits on what clients cost the stratum server, and the names of what it refuses, all in one place. Tests bring
 * smaller limits. Pure.
 */

import { isIPv6, SocketAddress } from 'node:net';
import { BoundedMap, LogBucket, TokenBucket } from '../../system/bounded.ts';
import type { RelayLog } from '../relay.ts';

export const stratumLimits = {
  /**
   * Maximum number of connections: one for each nonce1, and some that do not have theirs yet. Where files or memory are
   * short, `mostConnections` gives a lower number.
   */
  connections: 66_560,
  /** Maximum number of connections from one address, such as a farm's router. IPv6 addresses count by their /48. */
  connectionsPerAddress: 8_192,
  /** Maximum bytes of a line. The longest, `mining.submit` with a name of 256 characters, has a few hundred. */
  lineBytes: 4_096,
  /** Time in which a client must subscribe and authorize a worker. Miners take a second. */
  loginMs: 30_000,
  /** Time in which a proxy's header must come, or the handshake of TLS end. */
  handshakeMs: 5_000,
  /** Maximum bytes that wait for a client that does not read: two minutes of jobs for the fastest ASIC. */
  pendingBytes: 160_000,
  /**
   * Token bucket for the lines of a client: capacity, and refill per second. Before its rate is known, an ASIC of
   * 1 PH/s sends 200 shares a second, but only until the eighth. What comes at once keeps all others waiting. At most
   * half of the lines may be something else than shares that meet their target.
   */
  lineBurst: 200,
  linesPerSecond: 100,
  /**
   * Token bucket for all lines from an address together (IPv6: from a /48). 8,192 miners with a share each 10 s send
   * 820 lines a second. 2,000 shares a second take 6 % of a core.
   */
  addressLineBurst: 4_000,
  addressLinesPerSecond: 2_000,
  /**
   * Token bucket for the lines of a client that do not count for its address: enough to log in and for the shares until
   * its rate is known, so that a farm of fast miners can start at once; then one each 4 s. A client whose address has
   * no lines left is not read until it has some again.
   */
  reservedLineBurst: 20,
  reservedLinesPerSecond: 0.25,
  /** Maximum number of meaningless lines at once; one more may come each minute. Each is answered with an error. */
  junkLines: 10,
  /** Token bucket for the share ledger's lines about the sessions of one address: capacity, and refill per second. */
  ledgerBurst: 100_000,
  ledgerLinesPerSecond: 200,
  /** Maximum number of workers of an address whose shares without lines are summed up by name. */
  ledgerWorkers: 1_000,
  /** Maximum number of workers that a connection may authorize. Proxies have several. */
  workersPerSession: 16,
  /**
   * Token bucket for the penalty points of an address, which is banned when it is empty: capacity, and refill per
   * minute. Ten connections that were cut off for floods or junk use it up. Bad shares cost nothing.
   */
  banPoints: 100,
  banPointsPerMinute: 60,
  /** Duration of a ban: short, so that a corrected client is soon back. */
  banMs: 300_000,
  /** Maximum number of addresses whose penalties, and of workers whose hashrates are remembered. */
  remembered: 10_000,
  /** Time between two looks at each session: jobs are rolled at most this often, and time limits are this exact. */
  tickMs: 100,
  /** Time between two events about the relay. */
  reportMs: 5_000,
  /** Time between two log lines about what was refused. */
  logMs: 60_000,
};
export type StratumLimits = Readonly<typeof stratumLimits>;

/** Files that are reserved for the HTTP server's 64 clients, nodes, logs and GPUs; and for each CPU thread. */
const KEPT_FILES = 256;
const KEPT_FILES_PER_THREAD = 4;
/** Sessions may use a quarter of the memory, and each takes less than this. */
const MEMORY_SHARE = 1 / 4;
const SESSION_BYTES = 65_536;

/** What a machine has for connections. */
export interface Means {
  /** Maximum number of files that the process may have open; absent where the system has no such limit. */
  readonly files?: number | undefined;
  /** The memory in bytes: the machine's, or the container's where that has less. */
  readonly memory: number;
  /** Maximum number of CPU threads. */
  readonly threads: number;
}

/** @returns the maximum number of connections, and what is short where that is fewer than usual */
export function mostConnections({ files, memory, threads }: Means): { count: number; short?: 'files' | 'memory' } {
  // With few files, mining goes on with half of them.
  const kept = KEPT_FILES + KEPT_FILES_PER_THREAD * threads;
  const byFiles = files === undefined ? Number.POSITIVE_INFINITY : Math.max(files - kept, Math.floor(files / 2));
  const byMemory = Math.floor((MEMORY_SHARE * memory) / SESSION_BYTES);
  const { connections } = stratumLimits;
  if (Math.min(byFiles, byMemory) >= connections) return { count: connections };
  return byFiles <= byMemory ? { count: byFiles, short: 'files' } : { count: byMemory, short: 'memory' };
}

/**
 * Why connections are refused, or clients disconnected. Refused as they connect: `banned`, `crowded` (too many from one
 * address), `full` (too many in all). Disconnected later: `handshake` (what came was no TLS, or no header of a proxy),
 * `timeout` (no handshake or no login in time), `flood` (too many lines, or too long ones), `junk` (lines without
 * sense), `unread` (it does not read), `idle` (it brought nothing, and the server was full).
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

/*
 * Decides who may connect, and how much those from one address may send together: bounds connections and lines, and
 * bans addresses. It logs bans, at a bounded rate. Pure but for the log.
 */

/**
 * The penalty for each connection: 25,000 may come at once from an address, such as from a farm that starts and is
 * restarted twice, and then 250 a second.
 */
const CONNECTION_POINTS = 0.004;
/** Capacity of the token bucket for log lines about bans. */
const LOG_BURST = 10;

/** What comes from one address, or from one IPv6 network of 48 bits. */
interface Site {
  connections: number;
  readonly lines: SharedLines;
}

/**
 * Takes a line of a waiting client, if there is a token for it. @returns `waits` if there is none, `taken` if the
 * client has another line, `read` if it has none, so that it waits no longer
 */
type GoOn = () => 'waits' | 'taken' | 'read';

/** The token bucket that all clients of an address share. Clients that find it empty wait, and take turns. */
export class SharedLines {
  readonly #bucket: TokenBucket;
  /** Longest wait since the last line first. */
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

  /** Takes one line of each waiting client in turn, as far as there are tokens. Call this several times a second. */
  serve(): void {
    // A client that is moved to the end of the set comes again.
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
  /** Sites with connections. */
  readonly #sites = new Map<string, Site>();
  /** Sites that had connections, so that a client gains no tokens by connecting again. */
  readonly #former: BoundedMap<string, Site>;

  constructor(limits: StratumLimits, log: RelayLog, nowMs: number) {
    this.#limits = limits;
    this.#log = log;
    this.#bans = new Bans(limits);
    this.#former = new BoundedMap(limits.remembered);
    this.#logged = new LogBucket(LOG_BURST, nowMs);
  }

  /**
   * @returns why this connection is refused; otherwise the lines that it shares with others from its address. Then
   *   `leave` must be called at its end
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

  /** Lets waiting clients go on. Call this several times a second. */
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

  /** @param points the penalty @returns whether the address is banned because of it */
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

/** A /48, which is a usual allocation, has 65,536 /64 networks. */
const SITE_BITS = 48;

/** @returns an IPv4 address as it is; of an IPv6 address its /48. Limits per address apply to this */
export function siteOf(address: string): string {
  return networkOf(address, SITE_BITS);
}

/**
 * @param bits the length of an IPv6 prefix, a multiple of 16. The default is 64: one client usually controls a /64
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

/* Addresses of clients in one form, whether the system or a proxy gives them. Pure. */

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
