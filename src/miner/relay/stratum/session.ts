/**
 * A stratum session: answers a client's requests and gives jobs to the client. Lines and sockets are handled elsewhere
 * (stratum-messages.ts, socket.ts).
 *
 * A client subscribes and authorizes a worker, in either order. The answer to the subscription assigns a nonce1 to the
 * client. After both requests, the client gets a job at once. Further jobs follow with each new work, when the client's
 * difficulty changes, and before the client can run out of nonces.
 */

import { TokenBucket } from '../../../base/system/bounded.ts';
import type { Nonce1 } from '../../../protocol/chain/nonce.ts';
import type { Listener } from '../../events/events.ts';
import type { Account } from '../accounts.ts';
import { type SessionContext, SessionJobs } from './session-jobs.ts';
import { ShareHandler } from './shares.ts';
import type { Refusal } from './stratum-limits.ts';
import { formatNonce1, type Request, type ShareRequest, type StratumClient } from './stratum-messages.ts';

type RequestOf<Kind extends Request['kind']> = Extract<Request, { kind: Kind }>;

/** Penalty points of a client that is disconnected because it has sent too much junk. */
const JUNK_POINTS = 10;
/**
 * Number of junk lines per second that are allowed in the long run, because some miners sometimes send lines that are
 * not stratum requests.
 */
const JUNK_PER_SECOND = 1 / 60;

export class Session {
  readonly number: number;
  readonly #context: SessionContext;
  readonly #client: StratumClient;
  readonly #openedMs: number;
  readonly #workers = new Map<string, Account>();
  #agent = '';
  #nonce1: Nonce1 | undefined;
  #chosen: number | undefined;
  #suggested: number | undefined;
  #hasEnded = false;
  readonly #junk: TokenBucket;
  /** `#jobs` and `#shareHandler` are undefined until the client has subscribed and authorized a worker. */
  #jobs: SessionJobs | undefined;
  #shareHandler: ShareHandler | undefined;

  /** @param number the session's number: sessions are numbered from 1 on since the start */
  constructor(number: number, context: SessionContext, client: StratumClient) {
    this.number = number;
    this.#context = context;
    this.#client = client;
    this.#openedMs = context.clock.monotonicMs();
    this.#junk = new TokenBucket(context.limits.junkLines, JUNK_PER_SECOND, this.#openedMs);
  }

  get jobs(): SessionJobs | undefined {
    return this.#jobs;
  }

  /**
   * Answers a request.
   * @returns whether the request was a share that was accepted, or would have been if its work were not stale
   */
  receive(request: Request): boolean {
    switch (request.kind) {
      case 'share':
        return this.#submit(request);
      case 'subscribe':
        this.#subscribe(request);
        break;
      case 'authorize':
        this.#authorize(request);
        break;
      case 'suggest':
        this.#suggest(request);
        break;
      case 'junk':
        this.#refuseJunk(request);
    }
    return false;
  }

  /**
   * Lowers the maximum rate of shares, if the client has chosen its difficulty. Called when the client must wait
   * because too many lines come from it or from its address.
   */
  slowDown(): void {
    this.#jobs?.slowDown(this.#context.clock.monotonicMs());
  }

  tick(nowMs: number): void {
    if (this.#jobs) this.#jobs.tick(nowMs);
    else if (nowMs - this.#openedMs >= this.#context.limits.loginMs) this.#client.close('no login', 0, 'timeout');
  }

  /**
   * @returns whether the session is at least `leastMs` old and its shares prove fewer than `leastRate` hashes per
   *   second
   */
  isIdle(leastMs: number, leastRate: number, nowMs: number): boolean {
    return nowMs - this.#openedMs >= leastMs && (this.#jobs?.hashesPerSecond ?? 0) < leastRate;
  }

  close(reason: string, refusal?: Refusal): void {
    this.#client.close(reason, 0, refusal);
  }

  /** Must be called once, when the connection has ended. */
  end(): void {
    this.#hasEnded = true;
    const { nonce1s, rates, clock, log } = this.#context;
    const nowMs = clock.monotonicMs();
    if (this.#nonce1) nonce1s.release(this.#nonce1.value, this.#jobs?.works() ?? [], nowMs);
    for (const account of this.#workers.values()) account.users--;
    if (!this.#jobs) return;
    for (const account of this.#workers.values()) account.sessions.delete(this.#jobs);
    if (this.#jobs.isKnown) rates.put(this.#client.address, this.#name(), this.#jobs.known);
    log.debug(`session ${this.number} of ${this.#name()} has ended`);
  }

  #submit(request: ShareRequest): boolean {
    if (this.#shareHandler) return this.#shareHandler.take(request);
    this.#client.answer(request.id, this.#workers.size === 0 ? 'no-worker' : 'not-subscribed');
    return false;
  }

  #subscribe({ id, agent }: RequestOf<'subscribe'>): void {
    const { nonce1s, clock } = this.#context;
    if (!this.#nonce1) {
      const value = nonce1s.take(clock.monotonicMs());
      if (value === undefined) {
        this.#client.answer(id, 'server-full');
        return;
      }
      this.#nonce1 = { value, bytes: 2 };
      this.#agent = agent;
    }
    this.#client.answerSubscription(id, this.#nonce1, this.#agent);
    this.#begin();
  }

  #authorize({ id, worker, chosen }: RequestOf<'authorize'>): void {
    const { accounts, limits } = this.#context;
    const isNew = !this.#workers.has(worker);
    if (isNew && this.#workers.size >= limits.workersPerSession) {
      this.#client.answer(id, 'too-many-workers');
      return;
    }
    if (this.#workers.size === 0) this.#chosen = chosen;
    if (isNew) {
      const account = accounts.of(worker);
      account.users++;
      this.#workers.set(worker, account);
    }
    this.#client.answer(id, 'accepted');
    this.#begin();
  }

  #suggest({ id, difficulty }: RequestOf<'suggest'>): void {
    this.#suggested = difficulty ?? this.#suggested;
    this.#client.answer(id, difficulty === undefined ? 'wrong-difficulty' : 'accepted');
    if (difficulty !== undefined) this.#jobs?.suggest(difficulty, this.#context.clock.monotonicMs());
  }

  #refuseJunk({ id }: RequestOf<'junk'>): void {
    this.#client.answer(id, 'junk');
    const isRare = this.#junk.take(1, this.#context.clock.monotonicMs());
    if (!isRare) this.#client.close('junk', JUNK_POINTS, 'junk');
  }

  #begin(): void {
    // A client that does not read may have been disconnected while the answer before this call was sent.
    if (this.#hasEnded || this.#jobs || !this.#nonce1 || this.#workers.size === 0) return;
    const { number: session } = this;
    const worker = this.#name();
    const { log, clock } = this.#context;
    const { address } = this.#client;
    const agent = this.#agent;
    log.debug(`session ${session} of ${worker} has begun: ${address}, ${agent || 'an unnamed program'}`);
    const hints = { address, worker, chosen: this.#chosen, suggested: this.#suggested };
    this.#jobs = new SessionJobs(this.#context, hints, this.#client);
    // If a connection has several workers, its session is listed only in the account of the first worker.
    this.#workers.get(worker)?.sessions.add(this.#jobs);
    const begin = { type: 'session', session, nonce1: formatNonce1(this.#nonce1), worker, agent, address } as const;
    const parts = { client: this.#client, jobs: this.#jobs, workers: this.#workers };
    this.#shareHandler = new ShareHandler(this.#context, { begin, ...parts });
    this.#jobs.give(true, clock.monotonicMs());
  }

  /** The name of the session's first worker. Some worker must have been authorized. */
  #name(): string {
    const [name] = this.#workers.keys();
    return name;
  }
}

/* The sessions of a stratum server. */

/**
 * Minimum of `learningSeconds`: the planned seconds between two shares of a session that is learning (see vardiff.ts).
 */
const LEARNING_SECONDS = 0.15;
/**
 * Maximum of the planned share rate of all learning sessions together. Verifying 1,000 shares takes 0.1 s of a core.
 */
const LEARNING_SHARES_PER_SECOND = 1_000;
/** Time between two counts of the sessions that are learning and have sent shares. */
const COUNT_MS = 1_000;
/**
 * While the server is full, it closes sessions that are at least `IDLE_MS` old and whose shares prove less than
 * `IDLE_HASHES_PER_SECOND`. At this age, even a miner of 1 MH/s has sent shares, and a slower miner is not worth a
 * session.
 */
const IDLE_MS = 150_000;
const IDLE_HASHES_PER_SECOND = 10_000;

export class Sessions {
  readonly #all = new Set<Session>();
  #learning = 0;
  #countedMs = 0;
  #reportedMs = 0;

  add(session: Session): void {
    this.#all.add(session);
  }

  delete(session: Session): void {
    this.#all.delete(session);
  }

  readonly learningSeconds = (): number => Math.max(LEARNING_SECONDS, this.#learning / LEARNING_SHARES_PER_SECOND);

  /** Gives a job of the current work to all sessions. @param clean whether the clients must drop their earlier jobs */
  giveAll(clean: boolean, nowMs: number): void {
    for (const jobs of this.#allJobs()) jobs.give(clean, nowMs);
  }

  /** Must be called several times a second. */
  tick(nowMs: number): void {
    if (nowMs - this.#countedMs >= COUNT_MS) {
      this.#countedMs = nowMs;
      this.#learning = 0;
      // A session without shares does not count, so that it does not lower the share rate of the others.
      for (const { isLearning, hashesPerSecond } of this.#allJobs())
        if (isLearning && hashesPerSecond > 0) this.#learning++;
    }
    for (const session of this.#all) session.tick(nowMs);
  }

  /** Disconnects idle clients, the oldest first. @param most maximum number of clients to disconnect */
  makeRoom(most: number, nowMs: number): void {
    let count = 0;
    for (const session of this.#all) {
      if (count >= most) break;
      if (!session.isIdle(IDLE_MS, IDLE_HASHES_PER_SECOND, nowMs)) continue;
      session.close('it brings nothing, and the server is full', 'idle');
      count++;
    }
  }

  closeAll(): void {
    for (const session of [...this.#all]) session.close('the server ends');
  }

  report(
    relay: string,
    emit: Listener,
    { accounts, limits }: Pick<SessionContext, 'accounts' | 'limits'>,
    refused: Readonly<Record<Refusal, number>>,
    nowMs: number,
  ): void {
    if (nowMs - this.#reportedMs < limits.reportMs) return;
    this.#reportedMs = nowMs;
    const all = [...this.#allJobs()];
    const hashesPerSecond = all.reduce((sum, jobs) => sum + jobs.hashesPerSecond, 0);
    const workers = accounts.list(nowMs);
    emit({ type: 'relay', relay, sessions: all.length, hashesPerSecond, workers, refused: { ...refused } });
  }

  *#allJobs(): Generator<SessionJobs> {
    for (const { jobs } of this.#all) if (jobs) yield jobs;
  }
}
