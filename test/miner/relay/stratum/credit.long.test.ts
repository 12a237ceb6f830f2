/**
 * What the ledger credits, compared with the hashes that were made. The sessions are real, on a simulated clock; only
 * the hashing is drawn from a seeded random generator, so that miners may be as fast as ASICs and as many as statistics
 * need.
 */

import { afterEach, describe, expect, it } from 'vitest';
import type { SessionContext } from '#pickaxe/miner/relay/stratum/session-jobs.js';
import { type Random, seededRandom } from '#pickaxe/mock-node/random.js';
import { toHex } from '#pickaxe/protocol/chain/bytes.js';
import { difficultyOf, meetsTarget, targetForDifficulty } from '#pickaxe/protocol/chain/target.js';
import { parseTarget } from '#pickaxe/protocol/wire/stratum.js';
import { makeWork } from '../../../fakes.ts';
import { difficultyOfHashes, type Message, parse, SessionBench, type TestClient } from './session-bench.ts';

/** In H/s. */
const RATE = 1e12;
/** Blocks so hard that no share is one. */
const HARD = 2 ** 70;
const STEP_SECONDS = 0.5;
const WORK_SECONDS = 20;
/** The hash of a nonce that nobody has found. */
const WORST = new Uint8Array(32).fill(0xff);

/** A server whose verification looks hashes up instead of computing them. */
class CreditBench extends SessionBench {
  readonly random: Random;
  /** By nonce: the header for which it was found, in hex, and its hash. */
  readonly #found = new Map<bigint, { readonly header: string; readonly hash: Uint8Array }>();
  #counter = 0n;

  constructor(seed: number) {
    super();
    const random = seededRandom(seed);
    this.random = () => random() || Number.MIN_VALUE;
    const { works } = this;
    const judged: SessionContext['works'] = {
      get current() {
        return works.current;
      },
      isStale: (work) => works.isStale(work),
      judge: ({ header, searchTarget }, nonce) => {
        const found = this.#found.get(nonce);
        const powHash = found?.header === toHex(header) ? found.hash : WORST;
        return { powHash, proves: meetsTarget(powHash, searchTarget), solution: undefined, verdict: undefined };
      },
    };
    Object.assign(this.world, { works: judged, aimSeconds: 5 });
  }

  /** @param difficulty that of the hardest target that the hash meets @returns nonce2, 12 hex digits */
  find(header: string, difficulty: number, nonce1: number): string {
    const nonce2 = ++this.#counter;
    this.#found.set((nonce2 << 16n) | BigInt(nonce1), { header, hash: targetForDifficulty(difficulty) });
    return nonce2.toString(16).padStart(12, '0');
  }

  /** What the ledger credits in all, in hashes. */
  credited(): number {
    this.world.quota.close();
    return this.ledger.reduce((sum, line) => {
      if (line.type === 'left-out') return sum + line.acceptedHashes;
      return line.type === 'share' && line.result === 'accepted' ? sum + (line.difficulty ?? 0) : sum;
    }, 0);
  }
}

/**
 * How a kind of client behaves. By default it searches at the newest target at a constant rate, and submits at once.
 */
interface Habit {
  readonly passwords?: readonly string[];
  /** How many workers it has on its connection. */
  readonly workers?: number;
  /** In H/s, so many seconds after the start. */
  rate?(seconds: number): number;
  /** @returns the difficulty that it searches at */
  searches?(miner: Miner): number;
  /** How long a share takes to come. */
  delaySeconds?(random: Random): number;
  /** What else it does at each step. */
  acts?(miner: Miner): void;
}

interface Told {
  readonly difficulty: number;
  readonly atMs: number;
}

interface Due {
  readonly dueMs: number;
  readonly submit: () => void;
}

class Miner {
  readonly bench: CreditBench;
  readonly #name: string;
  readonly #habit: Habit;
  #client!: TestClient;
  #job = { id: '', header: '' };
  #due: Due[] = [];
  /** The difficulties that the server has set on this connection, the newest last. */
  told: Told[] = [];
  hashes = 0;

  constructor(bench: CreditBench, name: string, habit: Habit) {
    this.bench = bench;
    this.#name = name;
    this.#habit = habit;
    this.#connect();
  }

  get newest(): Told {
    return this.told.at(-1) as Told;
  }

  reconnect(): void {
    this.leave();
    this.#connect();
  }

  leave(): void {
    for (const { submit } of this.due(Number.POSITIVE_INFINITY)) submit();
    this.#client.leave();
  }

  say(method: string, ...params: unknown[]): void {
    this.#hear(this.#client.say(JSON.stringify({ id: 7, method, params })).map(parse));
  }

  /** Hashes for the time of a step. */
  step(seconds: number): void {
    const { bench } = this;
    const { acts, rate = () => RATE, searches = () => this.newest.difficulty, delaySeconds = () => 0 } = this.#habit;
    this.#hear(this.#client.read().map(parse));
    acts?.(this);
    const { id, header } = this.#job;
    const difficulty = searches(this);
    this.hashes += rate(seconds) * STEP_SECONDS;
    const wait = () => (-Math.log(bench.random()) * difficulty) / rate(seconds);
    for (let at = wait(); at < STEP_SECONDS; at += wait()) {
      const nonce2 = bench.find(header, difficulty / bench.random(), this.#client.nonce1);
      const dueMs = bench.nowMs + 1_000 * (at + delaySeconds(bench.random));
      this.#due.push({ dueMs, submit: () => this.#submit(id, nonce2) });
    }
  }

  /** @returns what is due before this time, and forgets it */
  due(untilMs: number): Due[] {
    const due = this.#due.filter(({ dueMs }) => dueMs < untilMs);
    this.#due = this.#due.filter(({ dueMs }) => dueMs >= untilMs);
    return due;
  }

  #connect(): void {
    const { passwords = ['x'], workers = 1 } = this.#habit;
    this.#client = this.bench.client();
    this.told = [];
    this.#hear(this.#client.login(this.#name, passwords[Math.floor(this.bench.random() * passwords.length)]));
    for (let worker = 1; worker < workers; worker++) this.say('mining.authorize', `${this.#name}.${worker}`, 'x');
  }

  #submit(id: string, nonce2: string): void {
    const worker = Math.floor(this.bench.random() * (this.#habit.workers ?? 1));
    this.#client.submit(id, nonce2, worker === 0 ? this.#name : `${this.#name}.${worker}`);
  }

  #hear(messages: readonly Message[]): void {
    for (const { method, params } of messages) {
      if (method === 'mining.notify') this.#job = { id: params[0], header: params[1] };
      if (method !== 'mining.set_target') continue;
      const difficulty = difficultyOf(parseTarget(params[0]) as Uint8Array);
      this.told.push({ difficulty, atMs: this.bench.nowMs });
    }
  }
}

const benches: CreditBench[] = [];
afterEach(async () => {
  for (const bench of benches.splice(0)) await bench.end();
});

/** @returns what is credited to miners of this kind ÷ the hashes that they have made */
async function creditOf(habit: Habit, miners: number, minutes: number): Promise<number> {
  const bench = new CreditBench(1);
  benches.push(bench);
  await bench.give(makeWork(HARD));
  const all = Array.from({ length: miners }, (_, number) => new Miner(bench, `rig${number}`, habit));
  for (let seconds = 0; seconds < 60 * minutes; seconds += STEP_SECONDS) {
    const endMs = bench.nowMs + 1_000 * STEP_SECONDS;
    if (seconds % WORK_SECONDS === 0) await bench.give(makeWork(HARD));
    for (const miner of all) miner.step(seconds);
    const due = all.flatMap((miner) => miner.due(endMs)).sort((a, b) => a.dueMs - b.dueMs);
    for (const { dueMs, submit } of due) {
      bench.nowMs = dueMs;
      submit();
    }
    bench.nowMs = endMs;
    bench.sessions.tick(endMs);
  }
  for (const miner of all) miner.leave();
  return bench.credited() / all.reduce((sum, { hashes }) => sum + hashes, 0);
}

/** Four times as high, and a quarter, for a minute each. */
const changing = (seconds: number) => RATE * [1, 4, 1, 0.25][Math.floor(seconds / 60) % 4];

/** The former target for so many seconds after each change, and then the newest. */
const late =
  (seconds: number) =>
  ({ told, newest, bench }: Miner) =>
    told.length > 1 && bench.nowMs - newest.atMs < 1_000 * seconds
      ? told[told.length - 2].difficulty
      : newest.difficulty;

/**
 * Suggests these one after the other, until its session is so old, and leaves before its rate is known and decides
 * instead.
 */
const suggests = (difficulties: readonly number[], untilSeconds: readonly number[]) => (miner: Miner) => {
  const ageSeconds = (miner.bench.nowMs - miner.told[0].atMs) / 1_000;
  const turn = untilSeconds.findIndex((until) => ageSeconds < until);
  if (turn < 0) miner.reconnect();
  else miner.say('mining.suggest_difficulty', difficultyOfHashes(difficulties[turn % difficulties.length]));
};

const reconnects = (miner: Miner) => {
  if (miner.bench.random() < STEP_SECONDS / 60) miner.reconnect();
};

/** The easier one of the newest target and the former one, which is accepted as well. */
const easiest = ({ told }: Miner) => Math.min(...told.slice(-2).map(({ difficulty }) => difficulty));

describe('the ledger credits what was hashed, to 3 %, to a client that', () => {
  it.each<[string, Habit, number, number]>([
    ['mines at the target that it has', {}, 40, 20],
    ['takes each new target four seconds late, at a rate that changes', { rate: changing, searches: late(4) }, 30, 20],
    [
      'suggests an easy and then a hard difficulty, and goes on with the easy one while that is accepted',
      { acts: suggests([RATE, 8 * RATE], [1, 11]), searches: easiest },
      60,
      20,
    ],
    [
      'suggests another difficulty each second',
      {
        acts: suggests(
          [RATE / 2, 4 * RATE, RATE, 2 * RATE],
          Array.from({ length: 20 }, (_, second) => second + 1),
        ),
      },
      40,
      15,
    ],
    [
      'chooses easy or hard difficulties with its password, at a rate that changes',
      { passwords: ['d=10', 'd=100', 'd=1000'], rate: changing },
      20,
      20,
    ],
    [
      'connects again and again, has four workers, and brings its shares seconds late',
      { workers: 4, delaySeconds: (random) => 4 * random(), acts: reconnects },
      20,
      20,
    ],
  ])('%s', async (_, habit, miners, minutes) => {
    const credit = await creditOf(habit, miners, minutes);
    expect(credit).toBeGreaterThan(0.97);
    expect(credit).toBeLessThan(1.03);
  });
});
