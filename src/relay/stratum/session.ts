/**
 * A stratum session: what one client asks, and the jobs that it is given. It speaks lines and knows no socket.
 *
 * A session gets a nonce1 with `mining.subscribe` and a worker with `mining.authorize`, in either order. Once it has
 * both it gets a job at once, and others at each new work, when its difficulty changes, and before it can have searched
 * all nonces.
 */

import { NONCE_BYTES } from '../../chain/bytes.ts';
import { LANES, type Nonce1 } from '../../chain/nonce.ts';
import { difficultyOf } from '../../chain/target.ts';
import { TokenBucket } from '../../system/bounded.ts';
import {
  formatError,
  formatNonce1,
  formatResult,
  hashesOfDifficulty,
  parseClientLine,
  parseTarget,
  type Request,
  STRATUM_ERROR,
} from '../../wire/stratum.ts';
import type { Account } from '../accounts.ts';
import { agentName, chosenDifficulty, reversesNonces, workerName } from './client-hints.ts';
import type { Reply, SessionContext } from './context.ts';
import type { Refusal } from './limits.ts';
import { SessionJobs } from './session-jobs.ts';
import { ShareHandler } from './shares.ts';

/** The connection to the client. */
export interface Client {
  /** Its address, as a proxy tells it where there is one. */
  readonly address: string;
  send(lines: string | Buffer): void;
  /** Ends the connection. @param points how bad the reason is, for bans @param refusal what it counts as */
  close(reason: string, points: number, refusal?: Refusal): void;
}

/** How bad it is for a client to be disconnected for junk. */
const JUNK_POINTS = 10;
/** A miner may say something that is not understood now and then, for years. */
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
  /** These are there once the client has subscribed and authorized a worker. */
  #sessionJobs: SessionJobs | undefined;
  #shareHandler: ShareHandler | undefined;

  /** @param number counts the sessions since the start */
  constructor(number: number, context: SessionContext, client: Client) {
    this.number = number;
    this.#context = context;
    this.#client = client;
    this.#openedMs = context.clock.monotonicMs();
    this.#junk = new TokenBucket(context.limits.junkLines, JUNK_PER_SECOND, this.#openedMs);
  }

  /** The jobs and the difficulty; undefined before the client has subscribed and authorized a worker. */
  get turn(): SessionJobs | undefined {
    return this.#sessionJobs;
  }

  /** Takes one line of the client, without its end. @returns whether it was a share that met its target */
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

  /** All clients of its address together send more lines than they may. */
  slowDown(): void {
    this.#sessionJobs?.slowDown(this.#context.clock.monotonicMs());
  }

  /** To be called several times a second. */
  tick(nowMs: number): void {
    if (this.#sessionJobs) this.#sessionJobs.tick(nowMs);
    else if (nowMs - this.#openedMs >= this.#context.limits.loginMs) this.#client.close('no login', 0, 'timeout');
  }

  /**
   * Whether it has existed for so long, and its shares prove fewer hashes a second than so many.
   * @param leastRate in hashes per second
   */
  isIdle(leastMs: number, leastRate: number, nowMs: number): boolean {
    return nowMs - this.#openedMs >= leastMs && (this.#sessionJobs?.hashesPerSecond ?? 0) < leastRate;
  }

  /** Disconnects the client. */
  close(reason: string, refusal?: Refusal): void {
    this.#client.close(reason, 0, refusal);
  }

  /** The client has gone. */
  end(): void {
    this.#hasEnded = true;
    const { nonce1s, rates, clock, log } = this.#context;
    const nowMs = clock.monotonicMs();
    if (this.#nonce1) nonce1s.release(this.#nonce1.value, this.#sessionJobs?.works() ?? [], nowMs);
    for (const account of this.#workers.values()) account.users--;
    if (!this.#sessionJobs) return;
    for (const account of this.#workers.values()) account.sessions.delete(this.#sessionJobs);
    if (this.#sessionJobs.isKnown) rates.put(this.#client.address, this.#name(), this.#sessionJobs.known);
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
      case 'mining.configure': // No extension is known here, and each must be answered.
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
      afterwards: () => this.#sessionJobs?.suggest(difficulty, this.#context.clock.monotonicMs()),
    };
  }

  #begin(): void {
    // The answer before may have been too much for a client that does not read, which ends the session.
    if (this.#hasEnded || this.#sessionJobs || !this.#nonce1 || this.#workers.size === 0) return;
    const { number: session } = this;
    const worker = this.#name();
    const { log, clock } = this.#context;
    const { address } = this.#client;
    const agent = this.#agent;
    log.debug(`session ${session} of ${worker} has begun: ${address}, ${agent || 'an unnamed program'}`);
    const hints = { address, worker, chosen: this.#chosen, suggested: this.#suggested };
    this.#sessionJobs = new SessionJobs(this.#context, hints, (lines) => this.#client.send(lines));
    // A connection with several workers counts as one of its first worker's.
    this.#workers.get(worker)?.sessions.add(this.#sessionJobs);
    const nonces = { nonce1: this.#nonce1, isReversed: this.#reversesNonces };
    const begin = { type: 'session', session, nonce1: formatNonce1(this.#nonce1), worker, agent, address } as const;
    this.#shareHandler = new ShareHandler(this.#context, {
      begin,
      turn: this.#sessionJobs,
      workers: this.#workers,
      ...nonces,
    });
    this.#sessionJobs.give(true, clock.monotonicMs());
  }

  #submit(params: readonly unknown[]): Reply {
    if (this.#workers.size === 0) return { code: STRATUM_ERROR.unauthorized, words: 'no worker is authorized' };
    if (!this.#shareHandler) return { code: STRATUM_ERROR.notSubscribed, words: 'not subscribed' };
    return this.#shareHandler.take(params);
  }

  /** The first worker is the session's. */
  #name(): string {
    const [name] = this.#workers.keys();
    return name;
  }
}

/** @returns the two bytes of nonce1 in the other order */
function swapped(value: number): number {
  return ((value << 8) | (value >> 8)) % LANES;
}

/** @returns for each extension that the client knows, that it is not used */
function refusedExtensions(names: unknown): Record<string, false> {
  const known = Array.isArray(names) ? names.filter((name) => typeof name === 'string').slice(0, 16) : [];
  return Object.fromEntries(known.map((name) => [name, false]));
}
