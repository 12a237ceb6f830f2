/** Sessions of a stratum server without sockets, on a simulated clock, with a source that does what a test tells it. */

import { LogBucket } from '#pickaxe/base/system/bounded.js';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { Accounts } from '#pickaxe/miner/relay/accounts.js';
import { RelayedWorks } from '#pickaxe/miner/relay/relay.js';
import { SharedJobs } from '#pickaxe/miner/relay/stratum/jobs.js';
import { Nonce1Pool } from '#pickaxe/miner/relay/stratum/nonce1-pool.js';
import { Session, Sessions } from '#pickaxe/miner/relay/stratum/session.js';
import type { SessionContext } from '#pickaxe/miner/relay/stratum/session-jobs.js';
import { type LedgerEntry, ShareLogQuota } from '#pickaxe/miner/relay/stratum/share-log.js';
import { type StratumLimits, stratumLimits } from '#pickaxe/miner/relay/stratum/stratum-limits.js';
import { StratumClient } from '#pickaxe/miner/relay/stratum/stratum-messages.js';
import { RememberedRates } from '#pickaxe/miner/relay/stratum/vardiff.js';
import { type Job, prepareJob, solves, withSearchTarget } from '#pickaxe/protocol/chain/job.js';
import { joinNonce } from '#pickaxe/protocol/chain/nonce.js';
import { creationTimeOf, type Work } from '#pickaxe/protocol/chain/work.js';
import { parseHeader, parseTarget } from '#pickaxe/protocol/wire/stratum.js';
import { FakeSource, Recorder } from '../../../fakes.ts';
import { turnsUntil } from '../../../turns.ts';

/** @returns what stratum calls this difficulty */
export const difficultyOfHashes = (hashes: number) => hashes / 2 ** 32;

export class SessionBench {
  readonly source = new FakeSource();
  readonly recorded = new Recorder();
  readonly ledger: LedgerEntry[] = [];
  readonly logged: string[] = [];
  readonly works: RelayedWorks;
  readonly world: SessionContext;
  readonly sessions = new Sessions();
  readonly #stop = new AbortController();
  readonly #following: Promise<void>;
  nowMs = 1_000_000;
  #count = 0;
  #isStale = true;

  constructor(limits: Partial<StratumLimits> = {}) {
    const clock = {
      ...systemClock,
      nowUs: () => BigInt(Math.round(this.nowMs)) * 1000n,
      monotonicMs: () => this.nowMs,
    };
    const beganUs = BigInt(Date.now()) * 1000n;
    this.source.latestUs = () => beganUs + BigInt(Math.round(this.nowMs)) * 1000n;
    const { source, recorded } = this;
    this.works = new RelayedWorks({
      name: 'stratum',
      source,
      emit: recorded.listen,
      clock,
      changed: (work, update) => {
        if (update.kind === 'stale') this.#isStale = true;
        if (!work) return;
        this.sessions.giveAll(this.#isStale, this.nowMs);
        this.#isStale = false;
      },
    });
    const log = (line: string) => void this.logged.push(line);
    this.world = {
      works: this.works,
      jobs: new SharedJobs(this.works, 100),
      nonce1s: new Nonce1Pool({ taken: 0x0101, isStale: (work) => this.works.isStale(work) }),
      accounts: new Accounts(),
      rates: new RememberedRates(100),
      clock,
      limits: { ...stratumLimits, ...limits },
      aimSeconds: 10,
      learningSeconds: this.sessions.learningSeconds,
      quota: new ShareLogQuota({
        record: (entry) => void this.ledger.push(entry),
        clock,
        limits: { ...stratumLimits, ...limits },
      }),
      log: { debug: log, info: log, warn: log },
      firstShares: new LogBucket(100, this.nowMs),
    };
    this.#following = this.works.follow(this.#stop.signal);
  }

  /** Gives work, and waits until the relay has it. */
  async give(work: Work): Promise<Work> {
    this.source.work(work);
    await turnsUntil(() => this.works.current === work);
    return work;
  }

  /** Condemns the work, as a New Cut does. */
  async condemn(work: Work): Promise<void> {
    this.source.stale(work);
    await turnsUntil(() => this.works.isStale(work));
  }

  client(): TestClient {
    return new TestClient(this, ++this.#count);
  }

  /** Lets time pass, a tenth of a second at a time. */
  pass(seconds: number): void {
    for (const endMs = this.nowMs + 1000 * seconds; this.nowMs < endMs; ) {
      this.nowMs += 100;
      this.sessions.tick(this.nowMs);
    }
  }

  async end(): Promise<void> {
    this.#stop.abort();
    await this.#following;
  }
}

export class TestClient {
  readonly session: Session;
  readonly #messages: StratumClient;
  /** That of the session, once it has logged in. */
  nonce1 = 0;
  /** What the server has sent, line by line, since it was last read. */
  #lines: string[] = [];
  closed: string | undefined;
  /** The penalty points with which it was disconnected, and the kind of refusal. */
  penalty: [points: number, refusal: string | undefined] | undefined;
  /** Whether whatever it is sent next is too much, so that the connection ends. */
  isDeaf = false;
  readonly #bench: SessionBench;

  constructor(bench: SessionBench, number: number) {
    this.#bench = bench;
    const connection = {
      address: '192.0.2.1',
      send: (lines: string | Buffer) => {
        this.#lines.push(...lines.toString().split('\n').slice(0, -1));
        if (this.isDeaf) this.session.end();
      },
      close: (reason: string, points: number, refusal?: string) => {
        this.closed = reason;
        this.penalty = [points, refusal];
      },
    };
    this.#messages = new StratumClient(connection, bench.world.limits);
    this.session = new Session(number, bench.world, this.#messages);
    bench.sessions.add(this.session);
  }

  /** Sends lines, and returns what the server has said since it was last read. */
  say(...lines: string[]): string[] {
    for (const line of lines) {
      const request = this.#messages.receive(line);
      if (request) this.session.receive(request);
    }
    return this.read();
  }

  read(): string[] {
    return this.#lines.splice(0);
  }

  /** Subscribes and authorizes, and returns the messages of the server that are no answers. */
  login(user = 'w', password = 'x', agent = 'test/1'): Message[] {
    const subscribe = JSON.stringify({ id: 1, method: 'mining.subscribe', params: [agent, null] });
    const authorize = JSON.stringify({ id: 2, method: 'mining.authorize', params: [user, password] });
    const answers = this.say(subscribe, authorize).map(parse);
    this.nonce1 = Number.parseInt(answers[0].result[1], 16);
    return answers.filter(({ method }) => method);
  }

  /** Submits a nonce2 for a job, and returns the answer. */
  submit(job: string, nonce2: string, user = 'w'): Message {
    const before = this.read();
    const [answer, ...after] = this.say(
      JSON.stringify({ id: 9, method: 'mining.submit', params: [user, job, nonce2] }),
    );
    this.#lines.unshift(...before, ...after);
    return parse(answer);
  }

  leave(): void {
    this.#bench.sessions.delete(this.session);
    this.session.end();
  }
}

// biome-ignore lint/suspicious/noExplicitAny: messages are of many kinds
export type Message = any;
export const parse = (line: string): Message => JSON.parse(line);

/** @returns the job of a `mining.notify`, as a miner understands it */
export function jobOf(work: Work, notify: Message, targetHex: string): { id: string; job: Job; clean: boolean } {
  const [id, header, clean] = notify.params;
  const job = prepareJob(work, creationTimeOf(parseHeader(header) as Uint8Array));
  return { id, job: withSearchTarget(job, parseTarget(targetHex) as Uint8Array), clean };
}

/** @returns nonce2 of a share, as a miner with this nonce1 finds it; 12 hex digits */
export function mineShare(job: Job, nonce1: number, from = 1, wanted = true): string {
  for (let counter = from; ; counter++) {
    if (solves(job, { lane: nonce1, step: 1, counter, page: 0 }) !== wanted) continue;
    return (joinNonce({ lane: nonce1, step: 1, counter, page: 0 }) >> 16n).toString(16).padStart(12, '0');
  }
}
