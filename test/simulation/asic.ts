/**
 * A simulated ASIC: a stratum client that really hashes, at a rate of its own in virtual time. It connects again when
 * its connection has ended, and has the bad habits of real ones, each with a probability. It knows what each of its
 * shares deserves, and counts what the server says of it.
 */

import { createInterface } from 'node:readline';
import type { PeerStream } from '#pickaxe/base/net/connecting.js';
import type { Clock, Timer } from '#pickaxe/base/system/clock.js';
import { equalBytes, HEADER_OFFSET } from '#pickaxe/protocol/chain/bytes.js';
import { meetsTarget } from '#pickaxe/protocol/chain/target.js';
import { powHash } from '#pickaxe/protocol/chain/verify.js';
import { parentOf, creationTimeOf as timeOf } from '#pickaxe/protocol/chain/work.js';
import { parseHeader, parseTarget } from '#pickaxe/protocol/wire/stratum.js';
import { Search } from './hashing.ts';

export interface AsicHabits {
  readonly hashesPerSecond: number;
  readonly user: string;
  /** The default chooses a difficulty of about 430 hashes per share. */
  readonly password: string;
  /** Parameters of `mining.subscribe`. */
  readonly subscription: readonly unknown[];
  /** The difficulty that it suggests, in the unit of the server; undefined for none. */
  readonly suggestion: number | undefined;
  /** Whether it authorizes before it subscribes. */
  readonly authorizesFirst: boolean;
  /** Whether nonce2 is written without leading zeros. */
  readonly omitsZeros: boolean;
  /** Time for which it goes on with its job after a newer one has come. */
  readonly lagMs: number;
  /** Share of the found shares that are sent twice: 0 to 1. */
  readonly duplicates: number;
  /** Wrong shares for each found one. */
  readonly wrong: number;
  /** Mean time after which it connects again without a reason; 0 for never. */
  readonly reconnectMs: number;
}

const USUAL: AsicHabits = {
  hashesPerSecond: 500,
  user: 'asic.1',
  password: 'd=0.0000001',
  subscription: ['asic/1', null],
  suggestion: undefined,
  authorizesFirst: false,
  omitsZeros: false,
  lagMs: 20,
  duplicates: 0,
  wrong: 0,
  reconnectMs: 0,
};

export interface SimulatedAsicOptions {
  readonly clock: Clock;
  /** Returns uniformly distributed numbers in [0, 1). */
  readonly random: () => number;
  /** Opens a connection to the server. @throws Error if that is not possible */
  readonly connect: (stop: AbortSignal) => Promise<PeerStream>;
  readonly habits?: Partial<AsicHabits>;
}

/** `good`: it meets the target of its job, which the server had not replaced when the share was sent. */
export type ShareKind = 'good' | 'old' | 'duplicate' | 'wrong';

interface AsicJob {
  readonly id: string;
  readonly header: Uint8Array;
  readonly target: Uint8Array;
  isReplaced: boolean;
}

/** Time between two rounds of hashing. */
const ROUND_MS = 200;
const RECONNECT_MS = 3_000;
/** Without a message for this time, it takes the server for dead, and connects again. */
const SILENCE_MS = 60_000;
const MOST_JOBS = 64;

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
  /** What no correct server does. */
  readonly faults: string[] = [];
  readonly #options: SimulatedAsicOptions;
  readonly #habits: AsicHabits;
  readonly #stop = new AbortController();
  readonly #timers: Timer[] = [];
  readonly #asked = new Map<number, ShareKind>();
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
    this.hashesPerSecond = this.#habits.hashesPerSecond;
    const { clock, random } = options;
    const begin = () => this.#timers.push(clock.setInterval(() => this.#hash(), ROUND_MS));
    this.#timers.push(clock.setTimeout(begin, random() * ROUND_MS));
    void this.#connect();
  }

  /** The nonce1 that the server has given to it; undefined while it has none. */
  get nonce1(): string | undefined {
    return this.#nonce1;
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
    const lines = createInterface({ input: stream });
    lines.on('line', (line) => this.#receive(line));
    lines.on('error', () => {});
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
    this.unanswered += this.#asked.size;
    this.#asked.clear();
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
    for (const request of authorizesFirst ? [authorize, subscribe] : [subscribe, authorize]) this.#send(request);
  }

  #receive(text: string): void {
    this.#heardMs = this.#options.clock.monotonicMs();
    const { id, method, params, result, error } = JSON.parse(text) as Line;
    const [first, second, third] = Array.isArray(params) ? (params as unknown[]) : [];
    if (method === 'mining.set_target') this.#target = parseTarget(String(first));
    else if (method === 'mining.notify') this.#take(String(first), String(second), third === true);
    else if (id === 1) this.#nonce1 = Array.isArray(result) ? String(result[1]) : undefined;
    else if (id === 2) this.#check(result === true, 'it refuses the user');
    else if (id === 3 && this.#habits.suggestion !== undefined)
      this.#check(result === true, 'it refuses the suggestion');
    else if (typeof id === 'number') this.#answered(id, result === true ? 'accepted' : String(error?.[1]));
  }

  #take(id: string, hex: string, isClean: boolean): void {
    const header = parseHeader(hex);
    const target = this.#target;
    if (!header || !target) {
      this.#fault(header ? 'a job comes before any target' : 'a job has no header');
      return;
    }
    const known = this.#jobs.find((job) => job.id === id);
    this.#check(!known || equalBytes(known.header, header), `the job ${id} has two headers`);
    const last = this.#jobs.at(-1);
    const isBack = last && equalBytes(parentOf(last.header), parentOf(header)) && timeOf(header) < timeOf(last.header);
    this.#check(!isBack, `the time of the job ${id} is before that of the job before`);
    if (isClean) for (const job of this.#jobs) job.isReplaced = true;
    this.#jobs.push({ id, header, target, isReplaced: false });
    if (this.#jobs.length > MOST_JOBS) this.#jobs.shift();
    const { clock } = this.#options;
    clock.setTimeout(() => this.#begin(), this.#habits.lagMs);
  }

  /** Begins the newest job. */
  #begin(): void {
    const job = this.#jobs.at(-1);
    if (!job || job === this.#searched || this.#nonce1 === undefined) return;
    // The nonces of a header that comes again are not searched again.
    const isAgain = this.#searched !== undefined && equalBytes(this.#searched.header, job.header);
    const counter = isAgain ? this.#search?.counter : 0;
    this.#searched = job;
    this.#search = new Search(job.header, job.target, { lane: Number.parseInt(this.#nonce1, 16), step: 1 }, counter);
  }

  #hash(): void {
    if (this.#options.clock.monotonicMs() - this.#heardMs > SILENCE_MS) this.#stream?.destroy();
    const job = this.#searched;
    if (!job || !this.#search || !this.#stream) return;
    this.#rest += (this.hashesPerSecond * ROUND_MS) / 1000;
    const hashes = Math.floor(this.#rest);
    this.#rest -= hashes;
    const { random } = this.#options;
    for (const nonce of this.#search.next(hashes)) {
      this.#submit(job, nonce, job.isReplaced ? 'old' : 'good');
      if (random() < this.#habits.duplicates) this.#submit(job, nonce, 'duplicate');
      if (random() < this.#habits.wrong) this.#submitWrong(job, nonce);
    }
  }

  #submitWrong(job: AsicJob, nonce: bigint): void {
    const wrong = nonce + (BigInt(1 + Math.floor(this.#options.random() * 1_000)) << 40n);
    const header = Buffer.from(job.header);
    header.writeBigUInt64LE(wrong, HEADER_OFFSET.nonce);
    if (!meetsTarget(powHash(header), job.target)) this.#submit(job, wrong, 'wrong');
  }

  #submit(job: AsicJob, nonce: bigint, kind: ShareKind): void {
    const { user, omitsZeros } = this.#habits;
    const id = ++this.#requests;
    const digits = (nonce >> 16n).toString(16);
    this.#asked.set(id, kind);
    const params = [user, job.id, omitsZeros ? digits : digits.padStart(12, '0')];
    this.#send({ id, method: 'mining.submit', params });
  }

  #answered(id: number, answer: string): void {
    const kind = this.#asked.get(id);
    if (!kind) {
      this.#fault(`it answers the request ${id}, which does not wait for an answer`);
      return;
    }
    this.#asked.delete(id);
    this.answers[kind][answer] = this.count(kind, answer) + 1;
  }

  #send(message: object): void {
    if (this.#stream?.writable) this.#stream.write(`${JSON.stringify(message)}\n`);
  }

  #check(isRight: boolean, fault: string): void {
    if (!isRight) this.#fault(fault);
  }

  #fault(what: string): void {
    this.faults.push(what);
  }
}
