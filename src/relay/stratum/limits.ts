/**
 * The limits on what clients cost the stratum server, and the names of what it refuses, all in one place. Tests bring
 * smaller limits. Pure.
 */

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
  /**
   * Lines that a session may have in the ledger: so many at once, which is more than it takes to learn how fast a miner
   * is; and so many from then on in the time in which one share should come. Further shares are summed up.
   */
  readonly ledgerBurst: number;
  readonly ledgerLinesPerShare: number;
  /** Lines that all sessions from one address may have together: so many at once, and so many a second from then on. */
  readonly ledgerBurstPerAddress: number;
  readonly ledgerLinesPerSecondPerAddress: number;
  /**
   * Shares of a session that stand for nothing and get such a line: so many at once, and so many a second from then on,
   * which is as often as good shares come.
   */
  readonly worthlessBurst: number;
  readonly worthlessPerSecond: number;
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
  ledgerBurst: 1_000,
  ledgerLinesPerShare: 2,
  ledgerBurstPerAddress: 100_000,
  ledgerLinesPerSecondPerAddress: 200,
  worthlessBurst: 20,
  worthlessPerSecond: 0.1,
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
