/**
 * Limits on the connections, memory and time that clients may take from the stratum server. Tests use smaller limits.
 * Pure.
 */

export const stratumLimits = {
  /**
   * Maximum number of connections: one for each nonce1, and about 1,000 for clients without a nonce1. `mostConnections`
   * may lower this number.
   */
  connections: 66_560,
  /** Maximum number of connections from one address, such as a farm's router, or from one IPv6 /48. */
  connectionsPerAddress: 8_192,
  /**
   * Maximum length of a client's line, in bytes. The longest usual line, `mining.submit` with a name of 256 characters,
   * has a few hundred bytes.
   */
  lineBytes: 4_096,
  /** Time within which a client must subscribe and authorize a worker. Miners take about a second. */
  loginMs: 30_000,
  /** Time limit for the header that a proxy sends first, and for a TLS handshake. */
  handshakeMs: 5_000,
  /**
   * Maximum number of bytes that wait to be sent to a client that does not read: about two minutes of jobs for the
   * fastest ASIC.
   */
  pendingBytes: 160_000,
  /**
   * Token bucket for the lines of one client. A client that exceeds this bucket is disconnected, unless the client had
   * to wait within the last minute. An ASIC of 1 PH/s sends about 230 shares a second at the first difficulty, but only
   * until its rate is estimated from the first eight shares. The burst is small, because its lines delay all other
   * clients. A second bucket of half this size and rate is for lines that are not valid shares.
   */
  lineBurst: 200,
  linesPerSecond: 100,
  /**
   * Token bucket for all lines from one address, or from one IPv6 /48. When it is empty, the clients wait. For example,
   * 8,192 miners that each send a share every 10 s send 820 lines a second. Reading 2,000 shares a second takes 6 % of
   * a core.
   */
  addressLineBurst: 4_000,
  addressLinesPerSecond: 2_000,
  /**
   * Token bucket for lines of one client that take no token of its address. The burst is enough to log in and to
   * measure the client's rate, so that all miners of a farm can start at once. After the burst, one line every 4 s
   * takes no token of the address. While this bucket and the address's bucket are both empty, no lines of the client
   * are read.
   */
  reservedLineBurst: 20,
  reservedLinesPerSecond: 0.25,
  /**
   * Maximum number of junk lines of a client in a burst, each answered with an error. In the long run one junk line a
   * minute is allowed.
   */
  junkLines: 10,
  /** Token bucket for lines of the share ledger about clients of one address, or of one IPv6 /48. */
  ledgerBurst: 100_000,
  ledgerLinesPerSecond: 200,
  /**
   * Shares for which the ledger's bucket has no token are summed up by worker. This is the maximum number of workers of
   * one address, or of one IPv6 /48, whose sums are kept by name.
   */
  ledgerWorkers: 1_000,
  /** Maximum number of workers that one connection may authorize. Proxies authorize several. */
  workersPerSession: 16,
  /**
   * Token bucket for an address's penalty points. When the points exceed it, the address is banned. More than ten
   * connections at once that are cut off for floods or junk exceed it. A bad share costs points only in a flood.
   */
  banPoints: 100,
  banPointsPerMinute: 60,
  /** Duration of a ban. It is short, so that a client can soon connect again after its settings were corrected. */
  banMs: 300_000,
  /**
   * Maximum number of entries in each of three memories: penalties of networks, token buckets of sites without
   * connections, and hashrates of workers.
   */
  remembered: 10_000,
  /** Time between two checks of each session. It is the resolution of all intervals and time limits of sessions. */
  tickMs: 100,
  reportMs: 5_000,
  /** Minimum time between two log lines about refused clients. */
  logMs: 60_000,
};
export type StratumLimits = Readonly<typeof stratumLimits>;

/**
 * Number of open files that are reserved for nodes, logs, GPUs, and the 64 clients of the HTTP server. Further files
 * are reserved for each CPU thread.
 */
const KEPT_FILES = 256;
const KEPT_FILES_PER_THREAD = 4;
/** Part of the memory that all sessions together may use. Each session needs less than `SESSION_BYTES`. */
const MEMORY_SHARE = 1 / 4;
const SESSION_BYTES = 65_536;

export interface Resources {
  /** Maximum number of open files of the process; absent if the system does not limit it. */
  readonly files?: number | undefined;
  /** Memory in bytes: the machine's memory, or the container's limit if that is less. */
  readonly memory: number;
  readonly threads: number;
}

/**
 * @returns the maximum number of connections (`count`), and the resource that makes it lower than usual, if any
 *   (`short`)
 */
export function mostConnections({ files, memory, threads }: Resources): { count: number; short?: 'files' | 'memory' } {
  // Usually the reserved files are subtracted. If the process may open only few files, connections get half of them.
  const kept = KEPT_FILES + KEPT_FILES_PER_THREAD * threads;
  const byFiles = files === undefined ? Number.POSITIVE_INFINITY : Math.max(files - kept, Math.floor(files / 2));
  const byMemory = Math.floor((MEMORY_SHARE * memory) / SESSION_BYTES);
  const { connections } = stratumLimits;
  if (Math.min(byFiles, byMemory) >= connections) return { count: connections };
  return byFiles <= byMemory ? { count: byFiles, short: 'files' } : { count: byMemory, short: 'memory' };
}

/**
 * Reasons for refusing or disconnecting clients. When a client connects: `banned`; `crowded` (too many connections from
 * its address); `full` (too many connections in all). Later: `handshake` (TLS or the proxy's header is required and
 * invalid, or a client begins TLS on a port without TLS); `timeout` (no handshake, proxy header or login in time);
 * `flood` (too many lines, or a line that is too long); `junk` (too many lines that are no stratum requests); `unread`
 * (the client does not read); `idle` (the shares prove too few hashes while the server is full).
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
