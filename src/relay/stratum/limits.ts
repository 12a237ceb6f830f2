/**
 * The limits on what clients cost the stratum server, and the names of what it refuses, all in one place. Tests bring
 * smaller limits. Pure.
 */

import { isIPv6, SocketAddress } from 'node:net';
import { BoundedMap, LogBucket, TokenBucket } from '../../system/bounded.ts';
import type { RelayLog } from '../relay.ts';

export interface StratumLimits {
  /**
   * How many connections there may be at one time: one for each nonce1, and some that do not have theirs yet. There are
   * fewer where files or memory are short (`mostConnections`).
   */
  readonly connections: number;
  /** The same from one address: a farm behind one router. An IPv6 address counts as its network of 48 bits. */
  readonly connectionsPerAddress: number;
  /** The bytes of a line. A client's longest, `mining.submit` with a name of 256 characters, has a few hundred. */
  readonly lineBytes: number;
  /** How long a client may take until it has subscribed and authorized a worker. Miners take a second. */
  readonly loginMs: number;
  /** How long a proxy's header, or the handshake of TLS, may take. Both come at once. */
  readonly handshakeMs: number;
  /** The most bytes that wait for a client that does not read. They are two minutes of jobs for the fastest ASIC. */
  readonly pendingBytes: number;
  /**
   * Lines that a client may send: so many at once, and so many a second from then on. Before its rate is known, an ASIC
   * of 1 PH/s sends 200 shares a second, but only until the eighth. What comes at once keeps all others waiting. Half
   * as many of them may be something else than shares that meet their target.
   */
  readonly lineBurst: number;
  readonly linesPerSecond: number;
  /**
   * Lines that all clients of an address may send together (with IPv6, those of a network of 48 bits). 8,192 miners
   * with a share each 10 s send 820 a second. 2,000 shares a second take 6 % of a core.
   */
  readonly addressLineBurst: number;
  readonly addressLinesPerSecond: number;
  /**
   * Lines that each client may send beyond that: enough for logging in and for the shares until its rate is known, so
   * that a farm of fast miners can start at once; and then one each 4 s. Clients for which there are no lines are not
   * read until there are.
   */
  readonly reservedLineBurst: number;
  readonly reservedLinesPerSecond: number;
  /** Lines without sense that a client may send at once; another one may come each minute. It is told of each. */
  readonly junkLines: number;
  /** Lines of the ledger for all sessions of one address together: a bucket's size, and its refill per second. */
  readonly ledgerBurst: number;
  readonly ledgerLinesPerSecond: number;
  /** Workers of one address that have sums of their own for shares without a line. */
  readonly ledgerWorkers: number;
  /** The workers that a connection may authorize: proxies have several. */
  readonly workersPerSession: number;
  /**
   * What an address may do wrong before it is banned, in points: so many at once, and so many more each minute. Ten
   * connections that were cut off for floods or junk use them up. Bad shares cost none.
   */
  readonly banPoints: number;
  readonly banPointsPerMinute: number;
  /** How long a ban takes. Whoever was wrong only for a while, such as with a new setting, is soon back. */
  readonly banMs: number;
  /** How many addresses are remembered for what they did wrong, and how many workers for how fast they were. */
  readonly remembered: number;
  /** How often a session's time is looked at: jobs are rolled at most this often, and time limits are this exact. */
  readonly tickMs: number;
  /** How often an event says how the relay does. */
  readonly reportMs: number;
  /** The time between two lines of the log about what was refused. */
  readonly logMs: number;
}

export const stratumLimits: StratumLimits = {
  connections: 66_560,
  connectionsPerAddress: 8_192,
  lineBytes: 4_096,
  loginMs: 30_000,
  handshakeMs: 5_000,
  pendingBytes: 160_000,
  lineBurst: 200,
  linesPerSecond: 100,
  addressLineBurst: 4_000,
  addressLinesPerSecond: 2_000,
  reservedLineBurst: 20,
  reservedLinesPerSecond: 0.25,
  junkLines: 10,
  ledgerBurst: 100_000,
  ledgerLinesPerSecond: 200,
  ledgerWorkers: 1_000,
  workersPerSession: 16,
  banPoints: 100,
  banPointsPerMinute: 60,
  banMs: 300_000,
  remembered: 10_000,
  tickMs: 100,
  reportMs: 5_000,
  logMs: 60_000,
};

/**
 * Files that are kept for everything else: the HTTP server's 64 clients, nodes, logs, GPUs; and those of each CPU
 * thread.
 */
const KEPT_FILES = 256;
const KEPT_FILES_PER_THREAD = 4;
/** Sessions have a quarter of the memory, and each takes less than this. */
const MEMORY_SHARE = 1 / 4;
const SESSION_BYTES = 65_536;

/** What a machine has for connections. */
export interface Means {
  /** How many files the process may have open; absent where the system has no such limit. */
  readonly files?: number | undefined;
  /** The memory in bytes: the machine's, or the container's where that has less. */
  readonly memory: number;
  /** How many CPU threads there can be. */
  readonly threads: number;
}

/**
 * @returns how many connections there may be at one time, and which of the means allows no more; undefined where
 *   neither is short
 */
export function mostConnections({ files, memory, threads }: Means): { count: number; short?: 'files' | 'memory' } {
  // However few files there are, mining goes on with the half of them.
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
