/** How much clients may cost the stratum server. Tests use smaller limits. Pure. */

export const stratumLimits = {
  /** Maximum number of connections: one for each nonce1, and some without. `mostConnections` may lower it. */
  connections: 66_560,
  /** Maximum number of connections from one address, such as a farm's router, or from one IPv6 /48. */
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
  /** Time between two checks of each session. New jobs and time limits cannot be timed more finely. */
  tickMs: 100,
  reportMs: 5_000,
  /** Time between two log lines about refused clients. */
  logMs: 60_000,
};
export type StratumLimits = Readonly<typeof stratumLimits>;

/** Open files reserved for the HTTP server's 64 clients, nodes, logs and GPUs, and further ones for each CPU thread. */
const KEPT_FILES = 256;
const KEPT_FILES_PER_THREAD = 4;
/** Sessions may use a quarter of the memory, and each needs less than `SESSION_BYTES`. */
const MEMORY_SHARE = 1 / 4;
const SESSION_BYTES = 65_536;

export interface Resources {
  /** Maximum number of open files of the process; absent if the system does not limit it. */
  readonly files?: number | undefined;
  /** Memory in bytes: the machine's, or the container's if that is less. */
  readonly memory: number;
  readonly threads: number;
}

/** @returns the maximum number of connections, and the resource that lowers it, if any */
export function mostConnections({ files, memory, threads }: Resources): { count: number; short?: 'files' | 'memory' } {
  // If files are few, half of them are left for mining.
  const kept = KEPT_FILES + KEPT_FILES_PER_THREAD * threads;
  const byFiles = files === undefined ? Number.POSITIVE_INFINITY : Math.max(files - kept, Math.floor(files / 2));
  const byMemory = Math.floor((MEMORY_SHARE * memory) / SESSION_BYTES);
  const { connections } = stratumLimits;
  if (Math.min(byFiles, byMemory) >= connections) return { count: connections };
  return byFiles <= byMemory ? { count: byFiles, short: 'files' } : { count: byMemory, short: 'memory' };
}

/**
 * Reasons for refusing or disconnecting clients. When a client connects: `banned`, `crowded` (too many connections from
 * its address), `full` (too many in all). Later: `handshake` (no valid TLS or proxy header where it is required, or TLS
 * on a port without it), `timeout` (no handshake or login in time), `flood` (too many or too long lines), `junk`
 * (meaningless lines), `unread` (the client does not read), `idle` (no shares while the server was full).
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
