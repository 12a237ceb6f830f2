/**
 * A stratum session: a client's requests, and the jobs that it gets. It speaks lines and knows no socket.
 *
 * A session gets a nonce1 with `mining.subscribe` and a worker with `mining.authorize`, in either order. Then it gets a
 * job at once, and others with each new work, when its difficulty changes, and before it can run out of nonces.
 */

import { TokenBucket } from '../../../base/system/bounded.ts';
import { NONCE_BYTES } from '../../../protocol/chain/bytes.ts';
import { LANES, type Nonce1 } from '../../../protocol/chain/nonce.ts';
import { difficultyOf } from '../../../protocol/chain/target.ts';
import {
  agentName,
  chosenDifficulty,
  formatError,
  formatNonce1,
  formatResult,
  hashesOfDifficulty,
  parseClientLine,
  parseTarget,
  type Request,
  reversesNonces,
  STRATUM_ERROR,
  workerName,
} from '../../../protocol/wire/stratum.ts';
import type { Listener } from '../../events/events.ts';
import type { Account } from '../accounts.ts';
import { type SessionContext, SessionJobs } from './session-jobs.ts';
import { type Reply, ShareHandler } from './shares.ts';
import type { Refusal } from './stratum-limits.ts';

export interface Client {
  /** The client's address; behind a proxy, the address in the proxy's header. */
  readonly address: string;
  send(lines: string | Buffer): void;
  /** Ends the connection. @param points the penalty; see `stratumLimits.banPoints` @param refusal what it counts as */
  close(reason: string, points: number, refusal?: Refusal): void;
}

/** Penalty points of a client that is disconnected for junk. */
const JUNK_POINTS = 10;
/** Refill: some miners send something unknown now and then, for years. */
const JUNK_PER_SECOND = 1 / 60;

export class Session {
  readonly number: number;
  readonly #context: SessionContext;
  readonly #client: Client;
  readonly #openedMs: number;
  readonly #workers = new Map<string, Account>();
  #agent = '';
  #nonce1: Nonce1 | undefined;
  #reversesNonces = false;
  #chosen: number | undefined;
  #suggested: number | undefined;
  #hasEnded = false;
  readonly #junk: TokenBucket;
  /** Undefined before the client has subscribed and authorized a worker. */
  #jobs: SessionJobs | undefined;
  #shareHandler: ShareHandler | undefined;

  /** @param number of the session, counted since the start */
  constructor(number: number, context: SessionContext, client: Client) {
    this.number = number;
    this.#context = context;
    this.#client = client;
    this.#openedMs = context.clock.monotonicMs();
    this.#junk = new TokenBucket(context.limits.junkLines, JUNK_PER_SECOND, this.#openedMs);
  }

  get jobs(): SessionJobs | undefined {
    return this.#jobs;
  }

  /** @param line without its end @returns whether it was a share that met its target */
  receive(line: string): boolean {
    if (line.trim() === '') return false;
    const parsed = parseClientLine(line);
    if (parsed.kind === 'request') return this.#answer(parsed.request);
    if (parsed.kind === 'junk') {
      this.#client.send(formatError(parsed.id, STRATUM_ERROR.other, 'this is no stratum request'));
      const isRare = this.#junk.take(1, this.#context.clock.monotonicMs());
      if (!isRare) this.#client.close('junk', JUNK_POINTS, 'junk');
    }
    return false;
  }

  /** Called when the client's address sends too many lines. */
  slowDown(): void {
    this.#jobs?.slowDown(this.#context.clock.monotonicMs());
  }

  tick(nowMs: number): void {
    if (this.#jobs) this.#jobs.tick(nowMs);
    else if (nowMs - this.#openedMs >= this.#context.limits.loginMs) this.#client.close('no login', 0, 'timeout');
  }

  /** @returns whether it is at least `leastMs` old, and its shares prove less than `leastRate` hashes a second */
  isIdle(leastMs: number, leastRate: number, nowMs: number): boolean {
    return nowMs - this.#openedMs >= leastMs && (this.#jobs?.hashesPerSecond ?? 0) < leastRate;
  }

  close(reason: string, refusal?: Refusal): void {
    this.#client.close(reason, 0, refusal);
  }

  /** Called once, when the connection has ended. */
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

  #answer({ id, method, params }: Request): boolean {
    const reply = this.#replyTo(method, params);
    const isError = 'code' in reply;
    this.#client.send(isError ? formatError(id, reply.code, reply.words) : formatResult(id, reply.result));
    reply.afterwards?.();
    return reply.metTarget === true;
  }

  #replyTo(method: string, params: readonly unknown[]): Reply {
    switch (method) {
      case 'mining.subscribe':
        return this.#subscribe(params);
      case 'mining.authorize':
        return this.#authorize(params);
      case 'mining.submit':
        return this.#submit(params);
      case 'mining.suggest_difficulty':
        return this.#suggest(hashesOfDifficulty(params[0]));
      case 'mining.suggest_target': {
        const target = typeof params[0] === 'string' ? parseTarget(params[0]) : undefined;
        return this.#suggest(target && difficultyOf(target));
      }
      case 'mining.extranonce.subscribe': // A session keeps its nonce1, so there is never anything to say.
        return { result: true };
      case 'mining.ping':
        return { result: 'pong' };
      case 'mining.configure': // The server knows no extension, and must answer each.
        return { result: refusedExtensions(params[0]) };
      default:
        return { code: STRATUM_ERROR.other, words: 'unknown method' };
    }
  }

  #subscribe([agent]: readonly unknown[]): Reply {
    const { nonce1s, clock } = this.#context;
    if (!this.#nonce1) {
      const value = nonce1s.take(clock.monotonicMs());
      if (value === undefined) {
        return { code: STRATUM_ERROR.other, words: 'all 65535 places of this server are taken; try again later' };
      }
      this.#nonce1 = { value, bytes: 2 };
      this.#agent = agentName(agent);
      this.#reversesNonces = reversesNonces(this.#agent);
    }
    const said = this.#reversesNonces ? { ...this.#nonce1, value: swapped(this.#nonce1.value) } : this.#nonce1;
    const result = [null, formatNonce1(said), NONCE_BYTES - this.#nonce1.bytes];
    return { result, afterwards: () => this.#begin() };
  }

  #authorize([user, password]: readonly unknown[]): Reply {
    const name = workerName(user);
    const { accounts, limits } = this.#context;
    if (this.#workers.has(name)) return { result: true };
    if (this.#workers.size >= limits.workersPerSession) {
      const words = `a connection has ${limits.workersPerSession} workers at most`;
      return { code: STRATUM_ERROR.unauthorized, words };
    }
    if (this.#workers.size === 0) this.#chosen = chosenDifficulty(password);
    const account = accounts.of(name);
    account.users++;
    this.#workers.set(name, account);
    return { result: true, afterwards: () => this.#begin() };
  }

  #suggest(difficulty: number | undefined): Reply {
    if (difficulty === undefined) return { code: STRATUM_ERROR.other, words: 'a difficulty is a number above 0' };
    this.#suggested = difficulty;
    return {
      result: true,
      afterwards: () => this.#jobs?.suggest(difficulty, this.#context.clock.monotonicMs()),
    };
  }

  #begin(): void {
    // A client that does not read may have been disconnected while the last answer was sent.
    if (this.#hasEnded || this.#jobs || !this.#nonce1 || this.#workers.size === 0) return;
    const { number: session } = this;
    const worker = this.#name();
    const { log, clock } = this.#context;
    const { address } = this.#client;
    const agent = this.#agent;
    log.debug(`session ${session} of ${worker} has begun: ${address}, ${agent || 'an unnamed program'}`);
    const hints = { address, worker, chosen: this.#chosen, suggested: this.#suggested };
    this.#jobs = new SessionJobs(this.#context, hints, (lines) => this.#client.send(lines));
    // A connection with several workers counts for its first worker.
    this.#workers.get(worker)?.sessions.add(this.#jobs);
    const nonces = { nonce1: this.#nonce1, isReversed: this.#reversesNonces };
    const begin = { type: 'session', session, nonce1: formatNonce1(this.#nonce1), worker, agent, address } as const;
    this.#shareHandler = new ShareHandler(this.#context, {
      begin,
      jobs: this.#jobs,
      workers: this.#workers,
      ...nonces,
    });
    this.#jobs.give(true, clock.monotonicMs());
  }

  #submit(params: readonly unknown[]): Reply {
    if (this.#workers.size === 0) return { code: STRATUM_ERROR.unauthorized, words: 'no worker is authorized' };
    if (!this.#shareHandler) return { code: STRATUM_ERROR.notSubscribed, words: 'not subscribed' };
    return this.#shareHandler.take(params);
  }

  /** The name of the session's first worker. */
  #name(): string {
    const [name] = this.#workers.keys();
    return name;
  }
}

/** @returns the two bytes of nonce1 in the other order */
function swapped(value: number): number {
  return ((value << 8) | (value >> 8)) % LANES;
}

/** @returns `false` for each extension that the client names */
function refusedExtensions(names: unknown): Record<string, false> {
  const known = Array.isArray(names) ? names.filter((name) => typeof name === 'string').slice(0, 16) : [];
  return Object.fromEntries(known.map((name) => [name, false]));
}

/* All sessions of a stratum server. */

/** Minimum number of seconds between two shares of a session that is learning. */
const LEARNING_SECONDS = 0.15;
/** Combined share rate of all sessions that are learning. Verifying them takes a tenth of a core. */
const LEARNING_SHARES_PER_SECOND = 1_000;
/** Time between two counts of the learning sessions that have brought shares. */
const COUNT_MS = 1_000;
/**
 * While the server is full, sessions of at least this age whose shares prove less than this rate are closed. By then,
 * the slowest miners worth a session, at 1 MH/s, have brought shares.
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

  /** Gives a job of the current work to all sessions. @param clean whether earlier jobs are worthless */
  giveAll(clean: boolean, nowMs: number): void {
    for (const jobs of this.#allJobs()) jobs.give(clean, nowMs);
  }

  /** To be called several times a second. */
  tick(nowMs: number): void {
    if (nowMs - this.#countedMs >= COUNT_MS) {
      this.#countedMs = nowMs;
      this.#learning = 0;
      // A session that brings nothing needs no part of the budget, and must not slow down the others.
      for (const { isLearning, hashesPerSecond } of this.#allJobs())
        if (isLearning && hashesPerSecond > 0) this.#learning++;
    }
    for (const session of this.#all) session.tick(nowMs);
  }

  /** Disconnects at most `most` clients that bring nothing, oldest first. */
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
