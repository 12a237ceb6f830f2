/**
 * Writes the share ledger: JSON lines, in order, appended to a file. A slow or full disk stops nothing else: lines wait
 * in a bounded memory, and those that find no room are counted. The file then tells how many are missing where they are
 * missing.
 */

import { z } from 'zod';
import { OTHER_WORKERS } from '../../events/vocabulary.ts';
import { TokenBucket } from '../../system/bounded.ts';
import { type Clock, wallMs } from '../../system/clock.ts';
import { type StratumLimits, siteOf } from './limits.ts';

/** The lines that wait for the disk: some 40,000 shares, which is minutes of a large farm. */
const WAITING_BYTES = 8 * 1024 ** 2;
/** The longest piece that is written at once. */
const PIECE_BYTES = 64 * 1024;
/** A disk that refuses is tried again after so long. */
const AGAIN_MS = 5_000;
/** Lines are collected for so long, so that a share does not cost a call of the system. */
const COLLECT_MS = 200;
/** How long the end may wait for a disk. */
const CLOSE_MS = 5_000;

/** The file, opened for appending. */
export interface LedgerFile {
  /** @returns how many of the bytes were written */
  write(bytes: Buffer): Promise<number>;
  close(): Promise<void>;
}

interface LedgerOptions {
  readonly clock: Clock;
  /** Told once when the file cannot be written, and once when it can be again. */
  readonly warn: (line: string) => void;
  readonly waitingBytes?: number;
  readonly againMs?: number;
}

export class Ledger {
  readonly #file: LedgerFile;
  readonly #options: LedgerOptions;
  #lines: Buffer[] = [];
  #bytes = 0;
  #lost = 0;
  #isFailing = false;
  #isClosing = false;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;

  constructor(file: LedgerFile, options: LedgerOptions) {
    this.#file = file;
    this.#options = options;
  }

  readonly record = (entry: LedgerEntry): void => {
    const { type, ...fields } = entry;
    if (this.#hasRoom()) this.#addLost();
    if (this.#hasRoom()) this.#add({ type, timeMillis: wallMs(this.#options.clock), ...fields } as LedgerLine);
    else this.#lost++;
    this.#timer ??= setTimeout(() => this.#flush(), COLLECT_MS);
  };

  /** Writes what waits, for some seconds at most, and closes the file. */
  async close(): Promise<void> {
    this.#isClosing = true;
    clearTimeout(this.#timer);
    this.#addLost();
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, CLOSE_MS);
    });
    await Promise.race([this.#writeAll(), patience]);
    if (this.#bytes > 0) this.#options.warn('the last lines of the share ledger could not be written');
    // The system closes no file that it still writes.
    await Promise.race([this.#file.close().catch(() => {}), patience]);
    clearTimeout(timer);
  }

  #hasRoom(): boolean {
    return this.#bytes < (this.#options.waitingBytes ?? WAITING_BYTES);
  }

  #addLost(): void {
    if (this.#lost === 0) return;
    this.#add({ type: 'lost', timeMillis: wallMs(this.#options.clock), lines: this.#lost });
    this.#lost = 0;
  }

  #add(line: LedgerLine): void {
    const bytes = Buffer.from(`${JSON.stringify(line)}\n`);
    this.#lines.push(bytes);
    this.#bytes += bytes.length;
  }

  async #flush(): Promise<void> {
    await this.#writeAll();
    this.#timer = undefined;
    if (this.#lines.length > 0 && !this.#isClosing) {
      this.#timer = setTimeout(() => this.#flush(), this.#options.againMs ?? AGAIN_MS);
    }
  }

  async #writeAll(): Promise<void> {
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined;
    });
    await this.#writing;
  }

  async #write(): Promise<void> {
    while (this.#lines.length > 0) {
      const piece = this.#nextPiece();
      let written = 0;
      try {
        written = await this.#file.write(piece);
        if (this.#isFailing) this.#options.warn('the share ledger can be written again');
        this.#isFailing = false;
      } catch (fault) {
        this.#fail((fault as Error).message);
      }
      this.#bytes -= written;
      // What was not written goes back whole, so that no line in the file is broken.
      if (written < piece.length) this.#lines.unshift(piece.subarray(written));
      if (this.#isFailing) return;
    }
  }

  #nextPiece(): Buffer {
    const pieces: Buffer[] = [];
    for (let bytes = 0; this.#lines.length > pieces.length; ) {
      const next = this.#lines[pieces.length];
      if (bytes > 0 && bytes + next.length > PIECE_BYTES) break;
      bytes += next.length;
      pieces.push(next);
    }
    this.#lines = this.#lines.slice(pieces.length);
    return Buffer.concat(pieces);
  }

  #fail(why: string): void {
    if (!this.#isFailing)
      this.#options.warn(`the share ledger cannot be written (${why}); lines are kept as far as memory allows`);
    this.#isFailing = true;
  }
}

/* The shapes of the lines of the share ledger. A field that is optional is absent where its value is not known. */

/**
 * What became of a share. `unknown-job`: the session never had the job that it names. `invalid`: its nonce cannot be
 * read.
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
/** A line before it is written. */
export type LedgerEntry = Untimed<Exclude<LedgerLine, { type: 'lost' }>>;

/*
 * Bounds what clients can make the share ledger write. Each session has a quota, and leaves it to the next session from
 * the same address with all that it has used up: a client that connects again and again gains nothing by it. All quotas
 * of an address together have a bound as well, because an address may have thousands of sessions at one time.
 */

/** How often left-out lines are summed up: a flood may last for days, and the ledger should show it meanwhile. */
const TELL_MS = 60_000;
/** For each line of shares that an address may have, it may have so many that sum up what was left out. */
const SUMS_PER_LINE = 0.1;

export type ShareEntry = Omit<Extract<LedgerEntry, { type: 'share' }>, 'type' | 'session'>;

interface ShareLogQuotaOptions {
  /** Writes a line of the ledger. */
  readonly record: (entry: LedgerEntry) => void;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly limits: StratumLimits;
  /** The seconds between two shares of a session whose rate is known. */
  readonly aimSeconds: number;
}

/** Of one worker: how many shares have no line, and what the accepted ones among them stand for. */
interface LeftOut {
  lines: number;
  accepted: number;
  blocks: number;
  acceptedHashes: number;
}

/** What all quotas of one address have together. */
class AddressLines {
  readonly shares: TokenBucket;
  readonly sums: TokenBucket;
  /** How many quotas it has. */
  quotas = 0;

  constructor({ clock, limits }: ShareLogQuotaOptions) {
    const { ledgerBurstPerAddress: most, ledgerLinesPerSecondPerAddress: perSecond } = limits;
    const nowMs = clock.monotonicMs();
    this.shares = new TokenBucket(most, perSecond, nowMs);
    this.sums = new TokenBucket(SUMS_PER_LINE * most, SUMS_PER_LINE * perSecond, nowMs);
  }
}

export class SessionQuota {
  readonly network: string;
  readonly #options: ShareLogQuotaOptions;
  readonly #address: AddressLines;
  readonly #lines: TokenBucket;
  readonly #worthless: TokenBucket;
  readonly #leftOut = new Map<string, LeftOut>();
  #toldMs: number;

  /** @param network `siteOf` the client's address */
  constructor(network: string, address: AddressLines, options: ShareLogQuotaOptions) {
    const { clock, limits, aimSeconds } = options;
    this.network = network;
    this.#address = address;
    this.#options = options;
    this.#toldMs = clock.monotonicMs();
    this.#lines = new TokenBucket(limits.ledgerBurst, limits.ledgerLinesPerShare / aimSeconds, this.#toldMs);
    this.#worthless = new TokenBucket(limits.worthlessBurst, limits.worthlessPerSecond, this.#toldMs);
  }

  /**
   * @param lines how many the share needs
   * @returns whether it gets them. If not, it is summed up
   */
  admit(share: ShareEntry, lines: number): boolean {
    const nowMs = this.#options.clock.monotonicMs();
    // A share that stands for nothing costs its client nothing either, so there can be any number of them.
    const isRare = Boolean(share.difficulty) || this.#worthless.take(1, nowMs);
    if (isRare && this.#lines.take(lines, nowMs) && this.#address.shares.take(lines, nowMs)) return true;
    this.#leaveOut(share);
    return false;
  }

  /**
   * Tells how many lines were left out, if it is time for that. Where the address has no line for it, the sums grow on.
   */
  tell(): void {
    const nowMs = this.#options.clock.monotonicMs();
    if (nowMs - this.#toldMs < TELL_MS || !this.#address.sums.take(this.#leftOut.size, nowMs)) return;
    this.tellNow();
  }

  tellNow(): void {
    if (this.#leftOut.size === 0) return;
    for (const [worker, sums] of this.#leftOut) this.#options.record({ type: 'left-out', worker, ...sums });
    this.#leftOut.clear();
    this.#toldMs = this.#options.clock.monotonicMs();
  }

  #leaveOut({ worker, result, difficulty = 0, isBlock }: ShareEntry): void {
    const isFull = this.#leftOut.size >= this.#options.limits.workersPerSession && !this.#leftOut.has(worker);
    const name = isFull ? OTHER_WORKERS : worker;
    const sums = this.#leftOut.get(name) ?? { lines: 0, accepted: 0, blocks: 0, acceptedHashes: 0 };
    this.#leftOut.set(name, sums);
    sums.lines++;
    if (result !== 'accepted') return;
    sums.accepted++;
    if (isBlock) sums.blocks++;
    sums.acceptedHashes += difficulty;
  }
}

export class ShareLogQuota {
  readonly #options: ShareLogQuotaOptions;
  /** The quotas that no session has, by network; those that were left least recently come first. */
  readonly #free = new Map<string, SessionQuota[]>();
  /** By network, as long as it has quotas. */
  readonly #addresses = new Map<string, AddressLines>();
  #count = 0;

  constructor(options: ShareLogQuotaOptions) {
    this.#options = options;
  }

  get record(): ShareLogQuotaOptions['record'] {
    return this.#options.record;
  }

  /** @returns a quota for a session of this client. It must be given back */
  take(address: string): SessionQuota {
    const network = siteOf(address);
    const free = this.#free.get(network);
    const quota = free?.pop();
    if (free?.length === 0) this.#free.delete(network);
    if (!quota) return this.#make(network);
    this.#count--;
    return quota;
  }

  giveBack(quota: SessionQuota): void {
    quota.tell();
    const free = this.#free.get(quota.network) ?? [];
    free.push(quota);
    this.#free.delete(quota.network);
    this.#free.set(quota.network, free);
    this.#count++;
    // There are never more sessions than connections at one time.
    if (this.#count > this.#options.limits.connections) this.#forget();
  }

  /** Writes the sums that are not written yet. All quotas must have been given back. */
  close(): void {
    for (const free of this.#free.values()) for (const quota of free) quota.tellNow();
  }

  #make(network: string): SessionQuota {
    const address = this.#addresses.get(network) ?? new AddressLines(this.#options);
    this.#addresses.set(network, address);
    address.quotas++;
    return new SessionQuota(network, address, this.#options);
  }

  #forget(): void {
    const [network, free] = this.#free.entries().next().value as [string, SessionQuota[]];
    const address = this.#addresses.get(network) as AddressLines;
    free.shift()?.tellNow();
    if (free.length === 0) this.#free.delete(network);
    if (--address.quotas === 0) this.#addresses.delete(network);
    this.#count--;
  }
}
