/**
 * A simulated pool. It gives jobs, sets targets, and judges shares strictly; its habits are those of real pools, each
 * of them an option or a method. It lives in virtual time, on a port in memory.
 */

import type { Clock, Timer } from '#pickaxe/base/system/clock.js';
import { randomBytes } from '#pickaxe/mock-node/random.js';
import { HEADER_BYTES, HEADER_OFFSET } from '#pickaxe/protocol/chain/bytes.js';
import { targetForDifficulty } from '#pickaxe/protocol/chain/target.js';
import type { PipePort } from './pipe.ts';
import { PoolClient } from './pool-client.ts';

export interface PoolHabits {
  /** Length of nonce1. The default is 2. */
  readonly nonce1Bytes: 0 | 1 | 2 | 3 | 4;
  /** Hashes per share at the beginning. */
  readonly difficulty: number;
  /** Hashes per block: the target in the headers. */
  readonly blockDifficulty: number;
  /** Mean time between two blocks of the network, each of which replaces all jobs; 0 for none. */
  readonly blockMs: number;
  /** Time between two jobs of the same block, which leave the earlier ones valid; 0 for none. */
  readonly jobMs: number;
  /** Planned time between two shares of a client, by which its difficulty is set; 0 for a fixed difficulty. */
  readonly shareMs: number;
  /** Whether a new target comes together with a job that replaces all others. Otherwise it comes alone. */
  readonly targetWithJob: boolean;
  /** Whether a share counts by the client's newest target, instead of by the one that its job was sent with. */
  readonly judgesByNewest: boolean;
  /** Whether jobs have the flag that says whether earlier jobs are worthless. */
  readonly hasCleanFlag: boolean;
  /** Whether target and job come before the answer to the subscription. */
  readonly jobComesFirst: boolean;
  /** The answer to a subscription: as most pools', with a list of subscriptions, or without the size of nonce2. */
  readonly subscription: 'plain' | 'nested' | 'short';
  /** The answer to an authorization that is accepted. */
  readonly authorization: true | null | readonly [];
  /** The codes of errors: those of f2pool, those of Kratum, or those of the reference server. */
  readonly errors: 'f2pool' | 'kratum' | 'reference';
  /** Whether a client may suggest its difficulty, in hashes per share. */
  readonly takesSuggestions: boolean;
  /** Longest time until a request is answered. */
  readonly answerMs: number;
  /** Share of the answers to shares that are lost: 0 to 1. */
  readonly lostAnswers: number;
}

const USUAL: PoolHabits = {
  nonce1Bytes: 2,
  difficulty: 64,
  blockDifficulty: 2 ** 40,
  blockMs: 20_000,
  jobMs: 5_000,
  shareMs: 0,
  targetWithJob: true,
  judgesByNewest: false,
  hasCleanFlag: true,
  jobComesFirst: false,
  subscription: 'plain',
  authorization: true,
  errors: 'f2pool',
  takesSuggestions: false,
  answerMs: 30,
  lostAnswers: 0,
};

export interface SimulatedPoolOptions {
  readonly port: PipePort;
  readonly clock: Clock;
  /** Returns uniformly distributed numbers in [0, 1). */
  readonly random: () => number;
  readonly habits?: Partial<PoolHabits>;
}

/** Verdicts on shares. */
export type ShareVerdict =
  | 'accepted'
  | 'stale'
  | 'duplicate'
  | 'low difficulty'
  | 'unauthorized'
  | 'unreadable'
  | 'refused';

/** What the pool sends as a job. No two jobs have the same header. */
export interface PoolJob {
  readonly name: string;
  /** The header without a nonce, 286 bytes. */
  readonly header: Buffer;
}

const CHAINS = 20;

export class SimulatedPool {
  readonly habits: PoolHabits;
  readonly clock: Clock;
  readonly random: () => number;
  readonly clients = new Set<PoolClient>();
  /** Number of connections so far. */
  connections = 0;
  /** What became of all shares, whether or not the answer has reached the miner. */
  readonly counts: Record<ShareVerdict, number> = {
    accepted: 0,
    stale: 0,
    duplicate: 0,
    'low difficulty': 0,
    unauthorized: 0,
    unreadable: 0,
    refused: 0,
  };
  /** Number of accepted shares that were blocks. */
  blocks = 0;
  /** Sum of the difficulties of accepted shares. */
  credit = 0;
  /** What no correct miner does, whatever the network does. */
  readonly faults: string[] = [];
  /** The users that the pool refuses. */
  readonly refusedUsers = new Set<string>();
  /** What the pool leaves out at the moment. `shares`: the answers to shares. `all`: whatever it would send. */
  silence: 'none' | 'shares' | 'all' = 'none';
  /** Share of the answers to shares that are lost: 0 to 1. */
  lostAnswers: number;
  /** Whether the pool refuses every share, because it has lost its accounts. */
  refusesAll = false;
  /** The parent of all jobs that are not stale. */
  parent: Buffer;
  #height = 1_000_000n;
  /** The headers of accepted shares, and the difficulty of each. */
  readonly #shares = new Map<string, number>();
  readonly #timers: Timer[] = [];
  #blockTimer: Timer | undefined;
  #jobs = 0;
  #nonce1s = 0;

  constructor({ clock, random, habits, port }: SimulatedPoolOptions) {
    this.clock = clock;
    this.random = random;
    this.habits = { ...USUAL, ...habits };
    this.lostAnswers = this.habits.lostAnswers;
    this.parent = randomBytes(random, 32);
    this.#nonce1s = Math.floor(random() * 200);
    const connected = (stream: ConstructorParameters<typeof PoolClient>[0]) => {
      this.connections++;
      this.clients.add(new PoolClient(stream, this));
    };
    void port.listen({ connected, refused: () => {}, failed: () => {} }, Number.POSITIVE_INFINITY);
    const { jobMs, shareMs } = this.habits;
    if (jobMs > 0) this.#timers.push(clock.setInterval(() => this.newJob(), jobMs));
    if (shareMs > 0) this.#timers.push(clock.setInterval(() => this.#retarget(), 4 * shareMs));
    this.#waitForBlock();
  }

  /** Somebody has found a block: all jobs are replaced. */
  newBlock(): void {
    this.parent = randomBytes(this.random, 32);
    this.#height++;
    for (const client of this.clients) client.give(true);
  }

  /** Gives other transactions to all: another job with the same parent, which leaves the earlier ones valid. */
  newJob(): void {
    for (const client of this.clients) client.give(false);
  }

  /** Sends each client its newest job once more, as some pools do. */
  repeatJobs(): void {
    for (const client of this.clients) client.repeat();
  }

  /** Sets the difficulty of all clients. */
  setDifficulty(difficulty: number): void {
    for (const client of this.clients) client.setDifficulty(difficulty);
  }

  /** Gives each client another nonce1. It counts from the next job on. @param withJob whether a job comes at once */
  changeNonce1s(withJob = true): void {
    for (const client of this.clients) client.changeNonce1(withJob);
  }

  /** Asks all miners to connect again. @param params of `client.reconnect`: host, port and seconds */
  askToReconnect(...params: readonly unknown[]): void {
    for (const client of this.clients) client.call('client.reconnect', params);
  }

  /** Tells all miners something. */
  say(text: string): void {
    for (const client of this.clients) client.call('client.show_message', [text]);
  }

  /** Sends a line to all miners, whatever it says. */
  sendLine(line: string): void {
    for (const client of this.clients) client.sendLine(line);
  }

  /** Ends all connections in order, as a restart of the pool does. The sessions are forgotten. */
  disconnectAll(): void {
    for (const client of this.clients) client.end();
  }

  /** Ends the pool's timers and connections. */
  close(): void {
    for (const timer of this.#timers) timer.cancel();
    this.#blockTimer?.cancel();
    this.disconnectAll();
  }

  /** @returns a nonce1 that no other client has had, as long as there are some */
  takeNonce1(): number {
    this.#nonce1s++;
    return this.#nonce1s % 256 ** this.habits.nonce1Bytes;
  }

  /** Accepts a share. @returns whether nobody has sent it before */
  credits(header: Buffer, difficulty: number): boolean {
    const share = header.toString('latin1');
    if (this.#shares.has(share)) return false;
    this.#shares.set(share, difficulty);
    this.credit += difficulty;
    return true;
  }

  /** @returns the difficulty of an accepted share; undefined if the pool has not accepted this header */
  creditOf(header: Uint8Array): number | undefined {
    return this.#shares.get(Buffer.from(header).toString('latin1'));
  }

  /** @returns a job on the newest block */
  makeJob(): PoolJob {
    const header = randomBytes(this.random, HEADER_BYTES);
    header.writeBigInt64LE(this.clock.nowUs(), HEADER_OFFSET.creationTime);
    this.parent.copy(header, HEADER_OFFSET.parent);
    header.set(targetForDifficulty(this.habits.blockDifficulty), HEADER_OFFSET.target);
    header.writeUInt32LE(Number(this.#height) % CHAINS, HEADER_OFFSET.chain);
    header.writeBigUInt64LE(this.#height, HEADER_OFFSET.height);
    header.writeUInt32LE(1, HEADER_OFFSET.version);
    header.writeBigUInt64LE(0n, HEADER_OFFSET.nonce);
    this.#jobs++;
    return { name: String(100_000_000_000 + this.#jobs), header };
  }

  #waitForBlock(): void {
    const { blockMs } = this.habits;
    if (blockMs === 0) return;
    const waitMs = -Math.log(1 - this.random()) * blockMs;
    this.#blockTimer = this.clock.setTimeout(() => {
      this.newBlock();
      this.#waitForBlock();
    }, waitMs);
  }

  #retarget(): void {
    for (const client of this.clients) client.retarget(4);
  }
}
