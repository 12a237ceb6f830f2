/** One connection to a simulated pool: its handshake, its jobs, and the strict judge of its shares. */

import { createInterface } from 'node:readline';
import type { PeerStream } from '#pickaxe/base/net/connecting.js';
import { formatTarget } from '#pickaxe/miner/relay/stratum/stratum-messages.js';
import { HEADER_OFFSET } from '#pickaxe/protocol/chain/bytes.js';
import { meetsTarget, targetForDifficulty } from '#pickaxe/protocol/chain/target.js';
import { powHash } from '#pickaxe/protocol/chain/verify.js';
import { headerTargetOf } from '#pickaxe/protocol/chain/work.js';
import type { PoolJob, ShareVerdict, SimulatedPool } from './pool.ts';

/** A job, with what was in force when it was sent. */
interface GivenJob {
  readonly header: Buffer;
  readonly nonce1: number;
  /** Hashes per share. */
  difficulty: number;
  isStale: boolean;
}

/** A message of a miner. Nothing in it is believed. */
interface Line {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
}

/** Number of jobs that stay valid beside each other. */
const MOST_JOBS = 8;
/** The difficulty changes at most by this factor at once. */
const MOST_CHANGE = 4;
/** Codes and words of each refusal, in the style of each kind of pool. */
const ERRORS: Record<'f2pool' | 'kratum' | 'reference', Partial<Record<ShareVerdict, [number, string]>>> = {
  f2pool: { stale: [20, 'stale'], duplicate: [22, 'duplicate share'], 'low difficulty': [21, 'low difficulty'] },
  kratum: {
    stale: [21, 'job not found'],
    duplicate: [22, 'duplicate share'],
    'low difficulty': [23, 'low difficulty share'],
  },
  reference: { duplicate: [31, 'invalid nonce'], 'low difficulty': [31, 'invalid nonce'] },
};

export class PoolClient {
  /** The users that the pool has accepted on this connection. */
  readonly users = new Set<string>();
  difficulty: number;
  readonly #stream: PeerStream;
  readonly #pool: SimulatedPool;
  readonly #jobs = new Map<string, GivenJob>();
  /** The newest message with a job. */
  #newest: readonly unknown[] = [];
  /** Whether both requests of the handshake were answered. */
  #hasBegun = false;
  #answerSubscription: (() => void) | undefined;
  #nonce1: number | undefined;
  #toldDifficulty: number | undefined;
  /** Accepted shares since the difficulty was last set. */
  #shares = 0;
  #lastAnswerMs = 0;

  constructor(stream: PeerStream, pool: SimulatedPool) {
    this.#stream = stream;
    this.#pool = pool;
    this.difficulty = pool.habits.difficulty;
    stream.on('error', () => {});
    stream.on('close', () => pool.clients.delete(this));
    const lines = createInterface({ input: stream });
    lines.on('line', (line) => this.#receive(line));
    lines.on('error', () => {});
  }

  /** @param isClean whether all earlier jobs are worthless */
  give(isClean: boolean): void {
    if (this.#hasBegun) this.#give(this.#pool.makeJob(), isClean);
  }

  repeat(): void {
    if (!this.#hasBegun) return;
    // From now on, the job also counts with the target that is set now.
    const job = this.#jobs.get(this.#newest[0] as string);
    if (job && this.#toldDifficulty !== undefined) job.difficulty = Math.min(job.difficulty, this.#toldDifficulty);
    this.call('mining.notify', this.#newest);
  }

  setDifficulty(difficulty: number): void {
    if (difficulty === this.difficulty) return;
    this.difficulty = difficulty;
    this.#shares = 0;
    if (this.#pool.habits.targetWithJob) this.give(true);
    else if (this.#hasBegun) this.#tellTarget();
  }

  /** Sets the difficulty by the shares since the last call, which is that of as many planned shares ago. */
  retarget(planned: number): void {
    const change = Math.min(MOST_CHANGE, Math.max(1 / MOST_CHANGE, this.#shares / planned));
    this.#shares = 0;
    if (change > 1.5 || change < 1 / 1.5) this.setDifficulty(Math.max(1, Math.round(this.difficulty * change)));
  }

  changeNonce1(withJob: boolean): void {
    if (!this.#hasBegun || this.#pool.silence === 'all') return;
    this.#nonce1 = this.#pool.takeNonce1();
    this.call('mining.set_extranonce', [this.#nonce1Hex(), this.#nonce2Bytes()]);
    if (withJob) this.give(true);
  }

  call(method: string, params: readonly unknown[]): void {
    this.#send({ method, params, id: null });
  }

  /** Sends a line to the miner, whatever it says. */
  sendLine(line: string): void {
    if (this.#pool.silence !== 'all' && this.#stream.writable) this.#stream.write(`${line}\n`);
  }

  end(): void {
    this.#stream.end();
  }

  #receive(text: string): void {
    let line: Line;
    try {
      line = JSON.parse(text) as Line;
    } catch {
      this.#fault(`a line is no JSON: ${text}`);
      return;
    }
    const { id, method } = line;
    const params = Array.isArray(line.params) ? (line.params as unknown[]) : [];
    if (method === 'mining.subscribe') this.#subscribe(id);
    else if (method === 'mining.authorize') this.#authorize(id, params);
    else if (method === 'mining.submit') this.#answerShare(id, this.#judge(params));
    else if (method === 'mining.suggest_difficulty' && this.#pool.habits.takesSuggestions) this.#suggest(id, params);
    else if (method !== undefined) this.#answer(id, null, [20, 'unknown method', null]);
  }

  #subscribe(id: unknown): void {
    this.#nonce1 ??= this.#pool.takeNonce1();
    const { subscription, jobComesFirst } = this.#pool.habits;
    const hex = this.#nonce1Hex();
    const list =
      subscription === 'nested'
        ? [
            ['mining.notify', '1'],
            ['mining.set_target', '1'],
          ]
        : null;
    const result = subscription === 'short' ? [list, hex] : [list, hex, this.#nonce2Bytes()];
    const answer = () => this.#answer(id, result, null, () => this.#begin());
    if (jobComesFirst && this.users.size === 0) this.#answerSubscription = answer;
    else answer();
  }

  #authorize(id: unknown, [user]: readonly unknown[]): void {
    const { refusedUsers, habits } = this.#pool;
    if (typeof user !== 'string' || refusedUsers.has(user)) {
      this.#answer(id, null, [24, 'unauthorized worker', null]);
      return;
    }
    this.users.add(user);
    this.#answer(id, habits.authorization, null, () => {
      this.#begin();
      this.#answerSubscription?.();
      this.#answerSubscription = undefined;
    });
  }

  /** Gives the first job, once both requests were received, and at least one of them was answered. */
  #begin(): void {
    if (this.#hasBegun || this.#nonce1 === undefined || this.users.size === 0) return;
    this.#hasBegun = true;
    this.give(true);
  }

  #suggest(id: unknown, [difficulty]: readonly unknown[]): void {
    this.#answer(id, true);
    if (typeof difficulty === 'number') this.setDifficulty(Math.max(1, difficulty));
  }

  #give({ name, header }: PoolJob, isClean: boolean): void {
    const { hasCleanFlag, blockDifficulty } = this.#pool.habits;
    if (this.#toldDifficulty !== this.difficulty) this.#tellTarget();
    if (isClean) for (const job of this.#jobs.values()) job.isStale = true;
    const nonce1 = this.#nonce1 as number;
    // A block is worth a share, whatever the difficulty.
    const difficulty = Math.min(this.difficulty, blockDifficulty);
    this.#jobs.set(name, { header, nonce1, difficulty, isStale: false });
    const valid = [...this.#jobs.values()].filter(({ isStale }) => !isStale);
    for (const job of valid.slice(0, -MOST_JOBS)) job.isStale = true;
    this.#newest = [name, header.toString('hex'), ...(hasCleanFlag ? [isClean] : [])];
    this.call('mining.notify', this.#newest);
  }

  #tellTarget(): void {
    if (this.#pool.silence !== 'all') this.#toldDifficulty = this.difficulty;
    this.call('mining.set_target', [formatTarget(targetForDifficulty(this.difficulty))]);
  }

  #judge([user, name, nonce2]: readonly unknown[]): ShareVerdict {
    if (typeof user !== 'string' || !this.users.has(user)) {
      this.#fault(`a share is of the user ${JSON.stringify(user)}, who is not authorized`);
      return 'unauthorized';
    }
    const digits = 2 * this.#nonce2Bytes();
    if (typeof nonce2 !== 'string' || nonce2.length !== digits || !/^[\da-f]+$/.test(nonce2)) {
      this.#fault(`nonce2 is ${JSON.stringify(nonce2)} instead of ${digits} hex digits`);
      return 'unreadable';
    }
    const job = typeof name === 'string' ? this.#jobs.get(name) : undefined;
    if (!job) {
      this.#fault(`a share is of the job ${JSON.stringify(name)}, which this connection has not got`);
      return 'stale';
    }
    return job.isStale ? 'stale' : this.#judgeNonce(job, BigInt(`0x${nonce2}`));
  }

  #judgeNonce(job: GivenJob, nonce2: bigint): ShareVerdict {
    const { habits } = this.#pool;
    const { nonce1, difficulty } = job;
    const header = Buffer.from(job.header);
    header.writeBigUInt64LE((nonce2 << BigInt(8 * habits.nonce1Bytes)) | BigInt(nonce1), HEADER_OFFSET.nonce);
    const hash = powHash(header);
    if (!meetsTarget(hash, targetForDifficulty(difficulty))) {
      this.#fault(`the share ${header.toString('hex')} does not meet the target of its job`);
      return 'low difficulty';
    }
    // A miner that has not heard of a harder target yet sends such a share without a fault.
    if (
      habits.judgesByNewest &&
      !meetsTarget(hash, headerTargetOf(header)) &&
      !meetsTarget(hash, targetForDifficulty(this.difficulty))
    )
      return 'low difficulty';
    if (this.#pool.refusesAll) return 'refused';
    if (!this.#pool.credits(header, difficulty)) {
      this.#fault(`the share ${header.toString('hex')} came twice`);
      return 'duplicate';
    }
    if (meetsTarget(hash, headerTargetOf(header))) this.#pool.blocks++;
    this.#shares++;
    return 'accepted';
  }

  #answerShare(id: unknown, verdict: ShareVerdict): void {
    const { counts, habits, random, silence, lostAnswers } = this.#pool;
    counts[verdict]++;
    if (silence === 'shares' || random() < lostAnswers) return;
    const [code, words] = ERRORS[habits.errors][verdict] ?? [20, verdict];
    if (verdict === 'accepted') this.#answer(id, true);
    else if (verdict === 'stale' && habits.errors === 'reference') this.#answer(id, false);
    else this.#answer(id, null, [code, words, null]);
  }

  /** Answers come late, but in the order of the requests. */
  #answer(id: unknown, result: unknown, error: unknown = null, then: () => void = () => {}): void {
    const { clock, random, habits } = this.#pool;
    const nowMs = clock.monotonicMs();
    this.#lastAnswerMs = Math.max(this.#lastAnswerMs, nowMs + random() * habits.answerMs);
    clock.setTimeout(() => {
      this.#send({ id, result, error });
      then();
    }, this.#lastAnswerMs - nowMs);
  }

  #send(message: object): void {
    this.sendLine(JSON.stringify(message));
  }

  #fault(what: string): void {
    this.#pool.faults.push(what);
  }

  #nonce1Hex(): string {
    const { nonce1Bytes } = this.#pool.habits;
    return nonce1Bytes === 0 ? '' : (this.#nonce1 as number).toString(16).padStart(2 * nonce1Bytes, '0');
  }

  #nonce2Bytes(): number {
    return 8 - this.#pool.habits.nonce1Bytes;
  }
}
