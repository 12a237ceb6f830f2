/**
 * A simulated ASIC: a stratum client that really hashes, at a rate of its own in virtual time. It connects again when
 * its connection has ended, and has the bad habits of real ones, each with a probability. It knows what each of its
 * shares deserves, and counts what the server says of it.
 */

import type { PeerStream } from '#pickaxe/base/net/connecting.js';
import type { Clock, Timer } from '#pickaxe/base/system/clock.js';
import { equalBytes, HEADER_OFFSET } from '#pickaxe/protocol/chain/bytes.js';
import { meetsTarget } from '#pickaxe/protocol/chain/target.js';
import { powHash } from '#pickaxe/protocol/chain/verify.js';
import { creationTimeOf as timeOf } from '#pickaxe/protocol/chain/work.js';
import { LineSplitter } from '#pickaxe/protocol/wire/lines.js';
import { parseTarget } from '#pickaxe/protocol/wire/stratum.js';
import { type AsicHabits, type AsicWatcher, type SentShare, type ShareKind, USUAL } from './asic-habits.ts';
import { type PreparedHeader, prepareHeader, Search, withTarget } from './hashing.ts';

export interface SimulatedAsicOptions {
  readonly clock: Clock;
  /** Returns uniformly distributed numbers in [0, 1). */
  readonly random: () => number;
  /** Opens a connection to the server. @throws Error if that is not possible */
  readonly connect: (stop: AbortSignal) => Promise<PeerStream>;
  readonly habits?: Partial<AsicHabits>;
  readonly watcher?: Partial<AsicWatcher>;
}

export interface AsicJob {
  readonly id: string;
  readonly header: Uint8Array;
  readonly prepared: PreparedHeader;
  readonly target: Uint8Array;
  isReplaced: boolean;
}

const RECONNECT_MS = 3_000;
/** Without a message for this time, it takes the server for dead, and connects again. */
const SILENCE_MS = 60_000;
const LINE_BYTES = 65_536;
const MOST_JOBS = 64;
/** Number of shares that it remembers to send again. */
const MOST_FOUND = 16;

/** The server's messages, as far as an ASIC believes them. */
interface Line {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: readonly unknown[] | null;
}

export class SimulatedAsic {
  /** By kind of share: how many had each answer, such as `accepted` or the server's words. */
  readonly answers: Record<ShareKind, Record<string, number>> = { good: {}, old: {}, duplicate: {}, wrong: {} };
  /** Number of shares whose answer never came, because the connection ended. */
  unanswered = 0;
  /** Number of connections so far. */
  connections = 0;
  /** Its hashrate, which may change. */
  hashesPerSecond: number;
  /** Whether it is on, but does not hash. */
  isIdle = false;
  /** What no correct server does. */
  readonly faults: string[] = [];
  /** The newest nonces that it has found and sent, with their jobs. */
  readonly found: { readonly job: AsicJob; readonly nonce: bigint }[] = [];
  readonly #options: SimulatedAsicOptions;
  readonly #habits: AsicHabits;
  readonly #stop = new AbortController();
  readonly #timers: Timer[] = [];
  /** By id: the requests without an answer. Only shares are counted. */
  readonly #asked = new Map<number, SentShare | 'no share'>();
  readonly #watcher: Partial<AsicWatcher>;
  #stream: PeerStream | undefined;
  #jobs: AsicJob[] = [];
  #nonce1: string | undefined;
  #target: Uint8Array | undefined;
  #search: Search | undefined;
  #searched: AsicJob | undefined;
  #requests = 0;
  #rest = 0;
  #heardMs = 0;

  constructor(options: SimulatedAsicOptions) {
    this.#options = options;
    this.#habits = { ...USUAL, ...options.habits };
    this.#watcher = options.watcher ?? {};
    this.hashesPerSecond = this.#habits.hashesPerSecond;
    const { clock, random } = options;
    const { roundMs } = this.#habits;
    const begin = () => this.#timers.push(clock.setInterval(() => this.#hash(), roundMs));
    this.#timers.push(clock.setTimeout(begin, random() * roundMs));
    if (this.#habits.startMs > 0) this.#timers.push(clock.setTimeout(() => void this.#connect(), this.#habits.startMs));
    else void this.#connect();
  }

  /** The nonce1 that the server has given to it; undefined while it has none. */
  get nonce1(): string | undefined {
    return this.#nonce1;
  }

  /** Its jobs, the newest last; empty without a connection. */
  get jobs(): readonly AsicJob[] {
    return this.#jobs;
  }

  /** The target of its newest jobs. */
  get target(): Uint8Array | undefined {
    return this.#target;
  }

  /** Number of requests that wait for an answer. */
  get waiting(): number {
    return this.#asked.size;
  }

  /** Number of shares of one kind with this answer; of any answer without one. */
  count(kind: ShareKind, answer?: string): number {
    if (answer !== undefined) return this.answers[kind][answer] ?? 0;
    return Object.values(this.answers[kind]).reduce((sum, count) => sum + count, 0);
  }

  /** Breaks off its connection, and opens another one. */
  reconnect(): void {
    this.#stream?.destroy();
  }

  /** Sends a line as it is; nothing without a connection. */
  write(line: string): void {
    if (this.#stream?.writable) this.#stream.write(line);
  }

  /** Sends a request that is no share. Its answer is expected, but not judged. */
  request(method: string, params: readonly unknown[]): void {
    if (!this.#stream?.writable) return;
    const id = ++this.#requests;
    this.#asked.set(id, 'no share');
    if (method === 'mining.authorize') this.#watcher.authorizes?.(String(params[0]));
    this.#send({ id, method, params });
  }

  /** Sends a nonce as a share. */
  submit(kind: ShareKind, job: string, nonce: bigint, user = this.#habits.user): void {
    const digits = (nonce >> 16n).toString(16);
    this.submitText(kind, job, this.#habits.omitsZeros ? digits : digits.padStart(12, '0'), user);
  }

  /** Sends a share, whatever its nonce2 is. */
  submitText(kind: ShareKind, job: string, nonce2: string, user = this.#habits.user): void {
    if (!this.#stream?.writable) return;
    const id = ++this.#requests;
    const share = { kind, user, job, nonce2 };
    this.#asked.set(id, share);
    this.#watcher.share?.(share);
    this.#send({ id, method: 'mining.submit', params: [user, job, nonce2] });
  }

  /** Reads nothing for a while, as a machine that hangs. */
  stopReading(ms: number): void {
    const stream = this.#stream;
    stream?.pause();
    this.#options.clock.setTimeout(() => stream?.resume(), ms);
  }

  /** Turns it off. */
  end(): void {
    this.#stop.abort();
    for (const timer of this.#timers) timer.cancel();
    this.#stream?.destroy();
  }

  async #connect(): Promise<void> {
    const { clock, random, connect } = this.#options;
    let stream: PeerStream;
    try {
      stream = await connect(this.#stop.signal);
    } catch {
      this.#connectLater();
      return;
    }
    this.connections++;
    this.#stream = stream;
    stream.on('error', () => {});
    stream.once('close', () => this.#closed());
    const splitter = new LineSplitter(LINE_BYTES);
    stream.on('data', (bytes: Buffer) => {
      for (const line of splitter.push(bytes)) this.#receive(line);
    });
    const { reconnectMs } = this.#habits;
    if (reconnectMs > 0) clock.setTimeout(() => stream.destroy(), -Math.log(1 - random()) * reconnectMs);
    this.#heardMs = clock.monotonicMs();
    this.#logIn();
  }

  #closed(): void {
    this.#stream = undefined;
    this.#jobs = [];
    this.#nonce1 = undefined;
    this.#target = undefined;
    this.#searched = undefined;
    this.unanswered += [...this.#asked.values()].filter((asked) => asked !== 'no share').length;
    this.#asked.clear();
    this.found.length = 0;
    this.#watcher.closed?.();
    this.#connectLater();
  }

  #connectLater(): void {
    const { clock, random } = this.#options;
    if (this.#stop.signal.aborted) return;
    this.#timers.push(clock.setTimeout(() => void this.#connect(), random() * RECONNECT_MS));
  }

  #logIn(): void {
    const { subscription, user, password, authorizesFirst, suggestion } = this.#habits;
    const subscribe = { id: 1, method: 'mining.subscribe', params: subscription };
    const authorize = { id: 2, method: 'mining.authorize', params: [user, password] };
    this.#requests = 2;
    if (suggestion !== undefined) {
      this.#requests = 3;
      this.#send({ id: 3, method: 'mining.suggest_difficulty', params: [suggestion] });
    }
    this.#watcher.authorizes?.(user);
    for (const request of authorizesFirst ? [authorize, subscribe] : [subscribe, authorize]) this.#send(request);
  }

  #receive(text: string): void {
    this.#heardMs = this.#options.clock.monotonicMs();
    const { id, method, params, result, error } = JSON.parse(text) as Line;
    const [first, second, third] = Array.isArray(params) ? (params as unknown[]) : [];
    if (method === 'mining.set_target') this.#setTarget(String(first));
    else if (method === 'mining.notify') this.#take(String(first), String(second), third === true);
    else if (id === 1) this.#setNonce1(result);
    else if (id === 2) this.#check(result === true, 'it refuses the user');
    else if (id === 3 && this.#habits.suggestion !== undefined)
      this.#check(result === true, 'it refuses the suggestion');
    else if (typeof id === 'number') this.#answered(id, result === true ? 'accepted' : String(error?.[1]));
  }

  #setTarget(hex: string): void {
    this.#target = parseTarget(hex);
    if (this.#target) this.#watcher.target?.(this.#target);
    else this.#fault(`${hex} is no target`);
  }

  #setNonce1(result: unknown): void {
    if (!Array.isArray(result)) return;
    this.#nonce1 = String(result[1]);
    this.#watcher.nonce1?.(this.#nonce1);
  }

  #take(id: string, hex: string, isClean: boolean): void {
    const prepared = prepareHeader(hex);
    const header = prepared?.header;
    const target = this.#target;
    if (!prepared || !header || !target) {
      this.#fault(header ? 'a job comes before any target' : 'a job has no header');
      return;
    }
    const known = this.#jobs.find((job) => job.id === id);
    if (known && known.prepared.hex !== prepared.hex) this.#fault(`the job ${id} has two headers`);
    const last = this.#jobs.at(-1);
    const isBack = last && timeOf(header) < timeOf(last.header) && isSameWork(last.header, header);
    if (isBack) this.#fault(`the time of the job ${id} is before that of the job before`);
    this.#watcher.job?.(id, prepared, isClean);
    if (isClean) this.#replaceJobs();
    this.#jobs.push({ id, header, prepared, target, isReplaced: false });
    if (this.#jobs.length > MOST_JOBS) this.#jobs.shift();
    const { clock } = this.#options;
    clock.setTimeout(() => this.#begin(), this.#habits.lagMs);
  }

  #replaceJobs(): void {
    for (let at = this.#jobs.length - 1; at >= 0 && !this.#jobs[at].isReplaced; at--) this.#jobs[at].isReplaced = true;
  }

  /** Begins the newest job. */
  #begin(): void {
    const job = this.#jobs.at(-1);
    if (!job || job === this.#searched || this.#nonce1 === undefined) return;
    // The nonces of a header that comes again are not searched again.
    const isAgain = this.#searched?.prepared.hex === job.prepared.hex;
    const counter = isAgain ? this.#search?.counter : 0;
    this.#searched = job;
    const lane = { lane: Number.parseInt(this.#nonce1, 16), step: 1 };
    this.#search = new Search(withTarget(job.prepared.puzzle, job.target), lane, counter);
  }

  #hash(): void {
    if (this.#stream && this.#options.clock.monotonicMs() - this.#heardMs > SILENCE_MS) this.#giveUp();
    const job = this.#searched;
    if (!job || !this.#search || !this.#stream || this.isIdle) return;
    this.#rest += (this.hashesPerSecond * this.#habits.roundMs) / 1000;
    const hashes = Math.floor(this.#rest);
    this.#rest -= hashes;
    const { random } = this.#options;
    this.#watcher.searched?.(hashes);
    for (const nonce of this.#search.next(hashes)) {
      this.submit(job.isReplaced ? 'old' : 'good', job.id, nonce);
      this.found.push({ job, nonce });
      if (this.found.length > MOST_FOUND) this.found.shift();
      if (random() < this.#habits.duplicates) this.submit('duplicate', job.id, nonce);
      if (random() < this.#habits.wrong) this.#submitWrong(job, nonce);
    }
  }

  #giveUp(): void {
    this.#watcher.silent?.();
    this.#stream?.destroy();
  }

  #submitWrong(job: AsicJob, nonce: bigint): void {
    const wrong = nonce + (BigInt(1 + Math.floor(this.#options.random() * 1_000)) << 40n);
    const header = Buffer.from(job.header);
    header.writeBigUInt64LE(wrong, HEADER_OFFSET.nonce);
    if (!meetsTarget(powHash(header), job.target)) this.submit('wrong', job.id, wrong);
  }

  #answered(id: number, answer: string): void {
    const [next] = this.#asked;
    if (next?.[0] !== id) {
      this.#fault(`it answers the request ${id}, which does not wait for an answer, or not first`);
      return;
    }
    this.#asked.delete(id);
    const [, share] = next;
    if (share === 'no share') return;
    this.answers[share.kind][answer] = this.count(share.kind, answer) + 1;
    this.#watcher.answer?.(share, answer);
  }

  #send(message: object): void {
    if (this.#stream?.writable) this.#stream.write(`${JSON.stringify(message)}\n`);
  }

  #check(isRight: boolean, fault: string): void {
    if (!isRight) this.#fault(fault);
  }

  #fault(what: string): void {
    this.faults.push(what);
    this.#watcher.fault?.(what);
  }
}

/** Whether two headers are of one work of a node: they differ in their times only. */
function isSameWork(a: Uint8Array, b: Uint8Array): boolean {
  const after = HEADER_OFFSET.parent;
  return equalBytes(a.subarray(after, HEADER_OFFSET.nonce), b.subarray(after, HEADER_OFFSET.nonce));
}
