/**
 * What a miner has sent and received over one connection to a pool, read by a judge at the miner's end. The judge
 * knows what the miner knows, so it can tell what a correct miner does next.
 */

import { TokenBucket } from '#pickaxe/base/system/bounded.js';
import { MOST_LINE_BYTES, MOST_SENT, MOST_UNREADABLE } from '#pickaxe/miner/source/pool/pool-limits.js';
import { fromHex, toHex } from '#pickaxe/protocol/chain/bytes.js';
import { meetsTarget } from '#pickaxe/protocol/chain/target.js';
import { parentOf, type Work, workOfHeader } from '#pickaxe/protocol/chain/work.js';
import { parseHeader, parseTarget } from '#pickaxe/protocol/wire/stratum.js';
import type { PipeEnd } from './pipe.ts';

/** Time after which jobs are mined although the pool has not answered about the user. */
const HANDSHAKE_MS = 10_000;
/** Nobody but a pool that floods sends so many lines in ten seconds. */
const FLOOD_LINES = 1_000;
/** A miner counts a little later or less than this judge. */
const SLACK_LINES = 5;
const METHODS = new Set(['mining.subscribe', 'mining.authorize', 'mining.submit', 'mining.suggest_difficulty']);

interface WireJob {
  readonly name: unknown;
  /** The header without a nonce, in hex. */
  readonly header: string;
  readonly work: Work;
  /** In hex; undefined until the pool has given one. */
  nonce1: string | undefined;
  /** When the pool has replaced the job, or the connection has ended; undefined while the job is valid. */
  staleMs: number | undefined;
}

/** A share that was sent. */
export interface SentShare {
  readonly wire: Wire;
  readonly sentMs: number;
  /** The first answer, and when it came. */
  answer?: { readonly kind: 'accepted' | 'stale' | 'rejected'; readonly atMs: number };
}

export interface WireOptions {
  readonly user: string;
  readonly nowMs: () => number;
  readonly violate: (what: string) => void;
  /** Called with the header of each share, 286 bytes in hex. */
  readonly onShare: (header: string, share: SentShare) => void;
  /** Called when the miner's end is closed. */
  readonly onEnd: () => void;
}

export class Wire {
  readonly openedMs: number;
  /** When the miner's end was closed. */
  endedMs: number | undefined;
  /** Whether the pool has refused the handshake. */
  wasRefused = false;
  /** Whether the pool has sent what no pool should send. */
  isGarbled = false;
  hasReceived = false;
  /** Whether the pool has sent more than a miner may put up with. */
  mustEnd = false;
  /** Whether the network has broken the connection. */
  wasBroken = false;
  /** Whether the pool has ended the connection in order. */
  hasEnded = false;
  /** The wait that the pool has asked for with `client.reconnect`; undefined if it has not asked. */
  reconnectMs: number | undefined;
  /** When the work has changed: its job, its target or its nonce1. Oldest first. */
  readonly changesMs: number[] = [];
  readonly #options: WireOptions;
  readonly #stream: PipeEnd;
  readonly #jobs = new Map<string, WireJob>();
  readonly #shares = new Set<string>();
  readonly #requests = new Map<unknown, { readonly method: string; readonly share?: SentShare }>();
  #job: WireJob | undefined;
  #nonce1: string | undefined;
  #target: Uint8Array | undefined;
  #easier: Uint8Array | undefined;
  #authorizedMs: number;
  #made = '';
  #flood = { sinceMs: 0, lines: 0 };
  readonly #calls: TokenBucket;
  readonly #unreadable: TokenBucket;
  #asked = 0;
  #lines = 0;
  #received = '';
  #sent = '';

  constructor(end: PipeEnd, options: WireOptions) {
    this.#options = options;
    this.openedMs = options.nowMs();
    this.#authorizedMs = this.openedMs + HANDSHAKE_MS;
    const write = end.write.bind(end);
    end.write = (text: string) => {
      this.#sent = this.#linesOf(this.#sent + text, (line) => this.#take(line));
      return write(text);
    };
    end.on('data', (bytes: Buffer) => {
      this.#received = this.#linesOf(this.#received + bytes.toString(), (line) => {
        if (line.length > MOST_LINE_BYTES) this.isGarbled = true;
        this.#receive(line);
      });
      this.#update();
    });
    this.#stream = end;
    this.#calls = new TokenBucket(MOST_SENT.lines + SLACK_LINES, MOST_SENT.linesPerSecond, this.openedMs);
    this.#unreadable = new TokenBucket(
      MOST_UNREADABLE.lines + SLACK_LINES,
      MOST_UNREADABLE.linesPerSecond,
      this.openedMs,
    );
    end.on('error', () => {
      this.wasBroken = true;
    });
    end.on('end', () => {
      this.hasEnded = true;
    });
    end.on('close', () => {
      this.endedMs = options.nowMs();
      for (const job of this.#jobs.values()) job.staleMs ??= options.nowMs();
      options.onEnd();
    });
  }

  /** Whether the miner has not closed the connection, and knows of no end. */
  get isOpen(): boolean {
    return !this.#stream.destroyed;
  }

  /** When the connection has given its first work after this time; undefined if it has not given one yet. */
  firstWorkMs(afterMs = Number.NEGATIVE_INFINITY): number | undefined {
    const changeMs = this.changesMs.find((ms) => ms > afterMs);
    if (changeMs === undefined || this.wasRefused) return undefined;
    return Math.max(changeMs, this.#authorizedMs);
  }

  /** Whether the miner has closed the connection although the pool gave no reason. */
  get wasLeft(): boolean {
    return !this.isOpen && !this.wasBroken && !this.hasEnded && !this.isGarbled && !this.wasRefused;
  }

  /** Whether this is the newest work, with the target that counts. */
  isNewest({ header, target }: Work): boolean {
    const job = this.#job;
    return this.isOpen && job !== undefined && toHex(header) === job.header && isSame(target, this.#targetOf(job));
  }

  /** @returns the job with this header, 286 bytes whatever their nonce; undefined if the pool has not given it here */
  jobOf(header: Uint8Array): WireJob | undefined {
    return this.#jobs.get(keyOf(header));
  }

  #linesOf(text: string, act: (line: string) => void): string {
    const lines = text.split('\n');
    const rest = lines.pop() as string;
    for (const line of lines) act(line);
    return rest;
  }

  /* What the miner sends */

  #take(text: string): void {
    const { id, method, params, result } = parse(text) ?? {};
    const { violate } = this.#options;
    this.#lines++;
    if (method === undefined) {
      if (this.#asked-- <= 0 || result === undefined) violate(`a line answers nothing: ${text}`);
      return;
    }
    if (!METHODS.has(method) || this.#requests.has(id)) violate(`a request is none, or has an old id: ${text}`);
    if (
      (this.#lines === 1) !== (method === 'mining.subscribe') ||
      (this.#lines === 2) !== (method === 'mining.authorize')
    )
      violate(`the line ${this.#lines} of a connection is ${text}`);
    const share = method === 'mining.submit' ? this.#share(params ?? [], text) : undefined;
    this.#requests.set(id, { method, ...(share && { share }) });
  }

  #share([user, name, nonce2]: readonly unknown[], text: string): SentShare | undefined {
    const { violate, nowMs, onShare } = this.#options;
    const job = [...this.#jobs.values()].findLast((each) => each.name === name);
    if (!job || user !== this.#options.user) {
      violate(`a share has another job or user than the connection: ${text}`);
      return undefined;
    }
    if (job.staleMs !== undefined) violate(`a share was sent ${nowMs() - job.staleMs} ms after its job was replaced`);
    const nonce = fromHex(`${nonce2}${job.nonce1}`.padStart(16, '0')).toReversed();
    const header = job.header.slice(0, -16) + toHex(nonce);
    if (this.#shares.has(header)) violate(`a share was sent twice: ${text}`);
    this.#shares.add(header);
    const share: SentShare = { wire: this, sentMs: nowMs() };
    onShare(header, share);
    return share;
  }

  /* What the pool sends */

  #receive(text: string): void {
    const line = parse(text);
    const nowMs = this.#options.nowMs();
    if (nowMs - this.#flood.sinceMs > 10_000) this.#flood = { sinceMs: nowMs, lines: 0 };
    this.#flood.lines++;
    if (this.#flood.lines > FLOOD_LINES) this.isGarbled = true;
    const isAnswer = line?.method === undefined && this.#requests.has(line?.id);
    if (!isAnswer && !this.#calls.take(1, nowMs)) this.mustEnd = true;
    if (!line || !('method' in line || 'result' in line || 'error' in line)) {
      this.#garble();
      return;
    }
    this.hasReceived = true;
    const { id, method, params = [] } = line;
    if (method === undefined) this.#answer(line);
    else if (method === 'mining.set_target') this.#setTarget(params[0]);
    else if (method === 'mining.notify') this.#notify(params);
    else if (method === 'mining.set_extranonce') this.#setNonce1(params[0]);
    else if (method === 'client.reconnect') this.reconnectMs = typeof params[2] === 'number' ? params[2] * 1000 : 0;
    else if (id !== null && id !== undefined) this.#asked++;
  }

  #answer({ id, result, error }: Line): void {
    const request = this.#requests.get(id);
    if (!request) return;
    const isRefused = (error !== null && error !== undefined) || result === false;
    const { method, share } = request;
    if (share) share.answer ??= { kind: kindOf(result, error), atMs: this.#options.nowMs() };
    else if (isRefused && method !== 'mining.suggest_difficulty') this.wasRefused = true;
    else if (method === 'mining.authorize') this.#authorizedMs = this.#options.nowMs();
    else if (method === 'mining.subscribe') this.#give(this.#nonce1 ?? (result as string[])[1]);
  }

  #setTarget(hex: unknown): void {
    const target = typeof hex === 'string' ? parseTarget(hex) : undefined;
    if (!target) {
      this.#garble();
      return;
    }
    // An easier target counts from the next job on.
    if (this.#target && !meetsTarget(target, this.#target)) this.#easier = target;
    else [this.#target, this.#easier] = [target, undefined];
  }

  #setNonce1(hex: unknown): void {
    if (typeof hex === 'string' && /^[\da-f]{0,8}$/.test(hex)) this.#give(hex);
    else this.#garble();
  }

  #give(nonce1: string): void {
    this.#nonce1 = nonce1;
    if (this.#job) this.#job.nonce1 ??= nonce1;
  }

  #notify([name, hex, isClean]: readonly unknown[]): void {
    const bytes = typeof hex === 'string' ? parseHeader(hex) : undefined;
    if (!bytes || typeof name !== 'string' || name === '') {
      this.#garble();
      return;
    }
    [this.#target, this.#easier] = [this.#easier ?? this.#target, undefined];
    const header = toHex(bytes);
    const work = workOfHeader(bytes);
    if (this.#job?.name === name && this.#job.header === header && this.#job.nonce1 === this.#nonce1) return;
    for (const job of this.#jobs.values()) {
      const isOvertaken = job.work.chain === work.chain && !isSame(parentOf(job.work.header), parentOf(bytes));
      if (isClean ?? isOvertaken) job.staleMs ??= this.#options.nowMs();
    }
    this.#job = { name, header, work, nonce1: this.#nonce1, staleMs: undefined };
    this.#jobs.set(keyOf(bytes), this.#job);
  }

  #garble(): void {
    this.isGarbled = true;
    if (!this.#unreadable.take(1, this.#options.nowMs())) this.mustEnd = true;
  }

  /** Called after each chunk, whose lines count together. */
  #update(): void {
    const job = this.#job;
    if (job?.nonce1 === undefined) return;
    const made = [job.name, job.header, toHex(this.#targetOf(job)), job.nonce1].join();
    if (made === this.#made) return;
    this.#made = made;
    this.changesMs.push(this.#options.nowMs());
  }

  #targetOf({ work }: WireJob): Uint8Array {
    return this.#target && !meetsTarget(this.#target, work.target) ? this.#target : work.target;
  }
}

interface Line {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: readonly unknown[];
  readonly result?: unknown;
  readonly error?: unknown;
}

function parse(text: string): Line | undefined {
  try {
    const line: unknown = JSON.parse(text);
    return typeof line === 'object' && line !== null ? line : undefined;
  } catch {
    return undefined;
  }
}

function kindOf(result: unknown, error: unknown): 'accepted' | 'stale' | 'rejected' {
  if (result === false) return 'stale';
  if (error === null || error === undefined) return 'accepted';
  return /stale|not found/.test(JSON.stringify(error)) ? 'stale' : 'rejected';
}

const isSame = (a: Uint8Array, b: Uint8Array) => Buffer.compare(a, b) === 0;
/** A header without its nonce, in hex. */
const keyOf = (header: Uint8Array) => toHex(header.subarray(0, -8));
