/**
 * The share ledger: a file of JSON lines. While the disk is slow, lines wait in bounded memory. Lines for which there
 * is no room are lost, and a later line reports how many were lost.
 */

import { z } from 'zod';
import { settledWithin } from '../../../base/system/abort.ts';
import { AppendFile } from '../../../base/system/append-file.ts';
import { TokenBucket } from '../../../base/system/bounded.ts';
import { type Clock, wallMs } from '../../../base/system/clock.ts';
import { OTHER_WORKERS } from '../../events/vocabulary.ts';
import { siteOf } from './client-network.ts';
import type { StratumLimits } from './stratum-limits.ts';

/**
 * Maximum number of bytes that wait for the disk. This is enough for some 40,000 shares, which a large farm sends in
 * minutes.
 */
const WAITING_BYTES = 8 * 1024 ** 2;
/** Time after which a failed write is retried. */
const AGAIN_MS = 5_000;
/** Time for which lines are collected before they are written, so that not every share needs a system call. */
const COLLECT_MS = 200;
/** Time limit for writing the last lines when the server ends, and another such limit for closing the file. */
const CLOSE_MS = 5_000;

export interface LedgerFile {
  /** @returns the number of bytes that were written, which can be fewer than given */
  write(bytes: Buffer): Promise<number>;
  close(): Promise<void>;
}

interface LedgerOptions {
  readonly clock: Clock;
  /** Called with a line for people when the file cannot be written, and when it can be written again. */
  readonly warn: (line: string) => void;
  readonly waitingBytes?: number;
  readonly againMs?: number;
}

export class Ledger {
  readonly #file: LedgerFile;
  readonly #clock: Clock;
  readonly #warn: (line: string) => void;
  readonly #lines: AppendFile;
  #lost = 0;

  constructor(file: LedgerFile, { clock, warn, waitingBytes = WAITING_BYTES, againMs = AGAIN_MS }: LedgerOptions) {
    this.#file = file;
    this.#clock = clock;
    this.#warn = warn;
    this.#lines = new AppendFile({
      append: (piece) => file.write(piece),
      changed: (why) => {
        if (why === undefined) warn('the share ledger can be written again');
        else warn(`the share ledger cannot be written (${why}); lines are kept as far as memory allows`);
      },
      waitingBytes,
      againMs,
      collectMs: COLLECT_MS,
      clock,
    });
  }

  readonly record = (entry: LedgerEntry): void => {
    const { type, ...fields } = entry;
    this.#addLost();
    const line = { type, timeMillis: wallMs(this.#clock), ...fields } as LedgerLine;
    if (!this.#lines.add(`${JSON.stringify(line)}\n`)) this.#lost++;
  };

  /** Writes the waiting lines, then closes the file. Each step takes at most `CLOSE_MS`. */
  async close(): Promise<void> {
    this.#addLost(true);
    await this.#lines.close(CLOSE_MS);
    if (this.#lines.waiting > 0) this.#warn('the last lines of the share ledger could not be written');
    // The system closes a file only after a running write to it has ended. Such a write can hang, so the wait is
    // limited.
    await settledWithin(
      this.#clock,
      this.#file.close().catch(() => {}),
      CLOSE_MS,
    );
  }

  #addLost(isForced = false): void {
    if (this.#lost === 0) return;
    const line: LedgerLine = { type: 'lost', timeMillis: wallMs(this.#clock), lines: this.#lost };
    if (this.#lines.add(`${JSON.stringify(line)}\n`, isForced)) this.#lost = 0;
  }
}

/*
 * The lines of the share ledger. An optional field is absent if its value is not known. `difficulty` is also absent if
 * the share was refused for another reason than stale work.
 */

/**
 * The results of shares. `unknown-job`: the session never had a job of the share's job id. `invalid`: the share's nonce
 * is not readable.
 */
const SHARE_RESULTS = ['accepted', 'low-difficulty', 'duplicate', 'stale', 'unknown-job', 'invalid'] as const;
export type ShareResult = (typeof SHARE_RESULTS)[number];

const count = z.int().nonnegative();
const timeMillis = count.meta({ description: 'milliseconds since the UNIX epoch' });
const session = count.meta({ description: 'the number of the session since pickaxe was started' });
const worker = z.string().max(128);

export const LedgerLine = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('session'),
    timeMillis,
    session,
    nonce1: z.string().regex(/^[0-9a-f]{4}$/),
    worker,
    agent: z.string().max(63),
    address: z.string().meta({ description: 'the client’s address, as a proxy tells it where there is one' }),
  }),
  z.object({
    type: z.literal('share'),
    timeMillis,
    session,
    worker,
    result: z.enum(SHARE_RESULTS),
    job: z.string().max(16).exactOptional(),
    chain: count.exactOptional(),
    height: count.exactOptional(),
    nonce: z
      .string()
      .regex(/^\d{1,20}$/)
      .exactOptional()
      .meta({ description: 'a decimal number' }),
    difficulty: z.number().nonnegative().exactOptional().meta({ description: 'hashes that the share stands for' }),
    isBlock: z.boolean(),
  }),
  z.object({
    type: z.literal('left-out'),
    timeMillis,
    worker,
    lines: count.meta({
      description: 'shares of the worker that have no line of their own before this one, because they were too many',
    }),
    accepted: count.meta({ description: 'how many of them were accepted' }),
    blocks: count.meta({ description: 'how many of the accepted ones met the block’s target' }),
    acceptedHashes: z.number().nonnegative().meta({ description: 'how many hashes the accepted ones stand for' }),
  }),
  z.object({
    type: z.literal('lost'),
    timeMillis,
    lines: count.meta({ description: 'lines that are missing here, because the file could not be written' }),
  }),
]);
export type LedgerLine = z.infer<typeof LedgerLine>;

type Untimed<Line> = Line extends unknown ? Omit<Line, 'timeMillis'> : never;
export type LedgerEntry = Untimed<Exclude<LedgerLine, { type: 'lost' }>>;

/*
 * Limits the ledger's lines about the clients of one site: an IPv4 address or an IPv6 /48 network. Shares beyond the
 * limit are summed up by worker, so that no credit is lost.
 */

/**
 * Interval at which the sums of a site's workers are written. The sums are written even while a flood goes on, because
 * a flood can last for days.
 */
const SUM_MS = 60_000;
/**
 * Without searching, a client can send any number of shares that do not count. So these shares get lines only while at
 * least this part of the token bucket is left.
 */
const KEPT_FOR_ACCEPTED = 0.5;

export type ShareEntry = Omit<Extract<LedgerEntry, { type: 'share' }>, 'type' | 'session'>;

interface ShareLogQuotaOptions {
  readonly record: (entry: LedgerEntry) => void;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly limits: StratumLimits;
}

type LeftOut = Omit<Extract<LedgerEntry, { type: 'left-out' }>, 'type' | 'worker'>;

interface NetworkLines {
  readonly bucket: TokenBucket;
  readonly leftOut: Map<string, LeftOut>;
  summedMs: number;
}

export class ShareLogQuota {
  readonly #options: ShareLogQuotaOptions;
  /** The state of each site (see `siteOf`), the least recently used first. */
  readonly #networks = new Map<string, NetworkLines>();

  constructor(options: ShareLogQuotaOptions) {
    this.#options = options;
  }

  get record(): ShareLogQuotaOptions['record'] {
    return this.#options.record;
  }

  /**
   * @param address the client's address
   * @param lines number of lines to write: one for the share, and another one if its session has no line yet
   * @returns whether the lines may be written; otherwise the share was added to the sums
   */
  admit(address: string, share: ShareEntry, lines: number): boolean {
    const nowMs = this.#options.clock.monotonicMs();
    const network = this.#networkOf(address, nowMs);
    if (nowMs - network.summedMs >= SUM_MS) this.#sumUp(network);
    const kept = share.result === 'accepted' && share.difficulty ? 0 : KEPT_FOR_ACCEPTED;
    const isAdmitted = network.bucket.take(lines, nowMs, kept * this.#options.limits.ledgerBurst);
    if (!isAdmitted) this.#leaveOut(network, share);
    return isAdmitted;
  }

  /** Writes all sums that were not written yet. */
  close(): void {
    for (const network of this.#networks.values()) this.#sumUp(network);
  }

  #networkOf(address: string, nowMs: number): NetworkLines {
    const { ledgerBurst, ledgerLinesPerSecond, connections } = this.#options.limits;
    const name = siteOf(address);
    const network = this.#networks.get(name) ?? {
      bucket: new TokenBucket(ledgerBurst, ledgerLinesPerSecond, nowMs),
      leftOut: new Map(),
      summedMs: nowMs,
    };
    this.#networks.delete(name);
    this.#networks.set(name, network);
    // At most `connections` sites have open connections, so the site that is removed here usually has none.
    const [[oldest, evicted]] = this.#networks;
    if (this.#networks.size > connections) {
      this.#sumUp(evicted);
      this.#networks.delete(oldest);
    }
    return network;
  }

  #leaveOut({ leftOut }: NetworkLines, { worker, result, difficulty = 0, isBlock }: ShareEntry): void {
    const isFull = leftOut.size >= this.#options.limits.ledgerWorkers && !leftOut.has(worker);
    const name = isFull ? OTHER_WORKERS : worker;
    const sums = leftOut.get(name) ?? { lines: 0, accepted: 0, blocks: 0, acceptedHashes: 0 };
    leftOut.set(name, sums);
    sums.lines++;
    if (result !== 'accepted') return;
    sums.accepted++;
    if (isBlock) sums.blocks++;
    sums.acceptedHashes += difficulty;
  }

  #sumUp(network: NetworkLines): void {
    for (const [worker, sums] of network.leftOut) this.#options.record({ type: 'left-out', worker, ...sums });
    network.leftOut.clear();
    network.summedMs = this.#options.clock.monotonicMs();
  }
}
