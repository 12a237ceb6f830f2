/** One connection to a pool: subscribes and authorizes, makes works from the pool's jobs, and submits shares. */

import { isPrivate, type PeerStream } from '../../../base/net/connecting.ts';
import type { Clock, Timer } from '../../../base/system/clock.ts';
import { type PoolAddress, poolAddress } from '../../../base/text/addresses.ts';
import type { Nonce1 } from '../../../protocol/chain/nonce.ts';
import type { Work } from '../../../protocol/chain/work.ts';
import { parseHeader, parseTarget } from '../../../protocol/wire/stratum.ts';
import type { SourceNews, StaleReason } from '../../events/vocabulary.ts';
import type { NamedNetwork } from '../source.ts';
import { Dialogue, type Reply } from './dialogue.ts';
import type { PoolHealth } from './pool-health.ts';
import type { PoolLimits } from './pool-limits.ts';
import {
  type Answer,
  complaintOf,
  type Message,
  PoolError,
  PoolNotices,
  parseNotice,
  parseReconnect,
  quote,
  quoteJson,
  UnreadableError,
  unusable,
} from './pool-messages.ts';
import { PoolShares } from './pool-shares.ts';
import { PoolWorks, parseNonce1, parseSubscription } from './pool-works.ts';

const NO_SUCH_METHOD = [-3, 'method not found', null] as const;

export interface PoolAccount {
  /** The user name in the form that the pool requires, usually `ACCOUNT.WORKER`. */
  readonly user: string;
  readonly password: string;
}

interface SessionOptions {
  readonly address: PoolAddress;
  readonly account: PoolAccount;
  readonly userAgent: string;
  readonly difficulty?: number | undefined;
  readonly allowReconnect: boolean;
  readonly network?: NamedNetwork | undefined;
  readonly clock: Clock;
  readonly limits: PoolLimits;
  readonly health: PoolHealth;
  readonly onWork: (work: Work) => void;
  /** Called with works that are worthless now, because the pool has replaced them or the connection has ended. */
  readonly onStale: (works: readonly Work[], reason: StaleReason) => void;
  readonly onNote: (state: SourceNews, reason: string) => void;
}

/** Milliseconds from the opening of the connection to the first event of each kind; absent before that event. */
export interface SessionTimes {
  subscribedMs?: number;
  authorizedMs?: number;
  targetMs?: number;
  jobMs?: number;
}

export class PoolSession {
  readonly times: SessionTimes = {};
  readonly shares: PoolShares;
  readonly #options: SessionOptions;
  readonly #dialogue: Dialogue;
  readonly #works = new PoolWorks();
  readonly #notices: PoolNotices;
  readonly #isPublic: boolean;
  readonly #beganMs: number;
  #noWork: Timer;
  #authorized = false;
  /** The difficulty in the last `mining.set_difficulty`, as text for messages; undefined if none has come. */
  #difficulty: string | undefined;
  #hasRefusedHost = false;
  /** Whether the pool has sent a job that could be read. */
  #hasJob = false;

  constructor(socket: PeerStream, options: SessionOptions) {
    const { account, clock, limits, health } = options;
    this.#options = options;
    this.#notices = new PoolNotices((text) => options.onNote('info', text));
    this.#beganMs = clock.monotonicMs();
    this.#dialogue = new Dialogue(socket, {
      url: options.address.url,
      clock,
      onCall: (call) => this.#apply(call),
      onStray: ({ error }) => this.#notices.show(complaintOf(error).text),
      onSkipped: (what) => options.onNote('warning', what),
      onRead: () => this.#update(),
    });
    this.shares = new PoolShares({
      user: account.user,
      dialogue: this.#dialogue,
      works: this.#works,
      clock,
      limits,
      health,
      onComplaint: (text) => this.#notices.note(text),
    });
    this.#isPublic = !isPrivate(socket.remoteAddress ?? '');
    this.#noWork = this.#watchForWork();
  }

  /**
   * Subscribes, authorizes and keeps the connection until it ends.
   * @returns why the connection has ended, after all its works were reported as stale
   */
  async run(): Promise<PoolError> {
    const { account, userAgent, limits } = this.#options;
    const { user, password } = account;
    const limitMs = limits.handshakeMs;
    // Both requests are sent at once, because a pool may wait for the second one before it answers the first.
    this.#dialogue.ask({ method: 'mining.subscribe', params: [userAgent, null], limitMs }, (reply) =>
      this.#subscribed(reply),
    );
    this.#dialogue.ask({ method: 'mining.authorize', params: [user, password], limitMs }, (reply) =>
      this.#authorizedBy(reply),
    );
    const why = await this.#dialogue.ended;
    this.#noWork.cancel();
    const works = this.#works.end();
    if (works.length > 0) this.#options.onStale(works, 'expired');
    const { ban } = this.#notices;
    return ban === undefined ? why : new PoolError('refused', `${why.message} It said: “${ban}”`);
  }

  end(why: PoolError): void {
    this.#dialogue.end(why);
  }

  #subscribed(reply: Reply): void {
    if (reply === 'lost') return;
    if (reply === 'late') {
      this.end(new PoolError('network', 'the pool did not answer in time. Is it a pool of this network?'));
    } else if (reply.error !== undefined) {
      this.end(this.#refusal('refuses miners', reply));
    } else {
      this.#begin(parseSubscription(reply.result));
    }
  }

  #begin(nonce1: Nonce1 | string): void {
    if (typeof nonce1 === 'string') {
      this.end(unusable(nonce1));
      return;
    }
    this.#happened('subscribedMs');
    // A nonce1 that came by `mining.set_extranonce` before this answer is kept.
    if (!this.#works.hasNonce1) this.#works.setNonce1(nonce1);
  }

  #authorizedBy(reply: Reply): void {
    if (reply === 'lost') return;
    if (reply === 'late') {
      this.#options.onNote('info', 'the pool does not say whether it accepts the user: mining goes on');
    } else if (reply.error !== undefined || reply.result === false) {
      const user = quote(this.#options.account.user);
      this.end(this.#refusal(`does not accept the user ${user}`, reply, 'Check --user (pool.user).'));
      return;
    } else {
      // Some pools answer with an empty list or null, which is no refusal.
      this.#happened('authorizedMs');
    }
    this.#authorized = true;
    this.#suggest();
    // Usually `onRead` makes the update after a line. No line has come here, so the update is made now.
    if (reply === 'late') this.#update();
  }

  #suggest(): void {
    const { difficulty, limits } = this.#options;
    if (difficulty === undefined) return;
    const request = { method: 'mining.suggest_difficulty', params: [difficulty], limitMs: limits.handshakeMs };
    this.#dialogue.ask(request, (reply) => this.#suggested(reply));
  }

  #suggested(reply: Reply): void {
    if (reply === 'lost') return;
    const isTaken = reply !== 'late' && reply.error === undefined && reply.result !== false;
    if (!isTaken) this.#options.onNote('info', 'the pool does not say that it takes the suggested difficulty');
  }

  #refusal(what: string, { error }: Answer, remedy = ''): PoolError {
    const quoted = quote(complaintOf(error).text);
    const message = `the pool ${what}${quoted === '' ? '' : ` (“${quoted}”)`}. ${remedy}`;
    return new PoolError('refused', message.trim());
  }

  /** Acts on a call of the pool. @throws PoolError if the connection must end, UnreadableError to skip the call */
  #apply({ id, method, params }: Message & { kind: 'call' }): void {
    switch (method) {
      case 'mining.notify':
        this.#notify(params);
        break;
      case 'mining.set_target':
        this.#setTarget(params);
        break;
      case 'mining.set_difficulty':
        this.#setDifficulty(params);
        break;
      case 'mining.set_extranonce':
        this.#setNonce1(params);
        break;
      case 'client.reconnect':
        this.#reconnect(params);
        break;
      case 'client.show_message':
        this.#notices.show(params[0]);
        break;
      case 'client.get_version':
        this.#dialogue.answer(id ?? null, this.#options.userAgent);
        break;
      default:
        // A call without an id is a notification and gets no answer.
        if (id !== null && id !== undefined) this.#dialogue.answer(id, null, NO_SUCH_METHOD);
    }
  }

  #notify(params: readonly unknown[]): void {
    const notice = parseNotice(params);
    const header = notice && parseHeader(notice.header);
    if (!notice || !header) throw this.#unreadable('a job', params, this.#hasJob);
    if (typeof notice.job === 'number' && !Number.isSafeInteger(notice.job)) {
      // JSON.parse may have rounded this number, and then every share would name another job.
      throw unusable('it names a job by a number beyond 2^53, which JSON readers round. It would have to send a text');
    }
    const { network } = this.#options;
    const other = network?.otherThan(header);
    if (other !== undefined) {
      throw unusable(`it gives work of another network (${other}) than ${network?.name}, and nothing is mined for it`);
    }
    if (this.#difficulty !== undefined && !this.#works.hasTarget) {
      // Pools of this network send targets, and the network does not define the target of difficulty 1. With a guessed
      // target all shares could be wasted.
      const why = 'and this network does not define what difficulty 1 is. It would have to send mining.set_target';
      throw unusable(`it sent mining.set_difficulty ${this.#difficulty} and no target, ${why}`);
    }
    this.#hasJob = true;
    this.#happened('jobMs');
    this.#noWork.cancel();
    this.#noWork = this.#watchForWork();
    this.#works.notify({ name: notice.job, header, clean: notice.clean });
  }

  #setTarget(params: readonly unknown[]): void {
    const target = typeof params[0] === 'string' ? parseTarget(params[0]) : undefined;
    if (!target) throw this.#unreadable('a target', params, this.#works.hasTarget);
    this.#happened('targetMs');
    this.#works.setTarget(target);
  }

  #setDifficulty(params: readonly unknown[]): void {
    const quoted = quoteJson(params[0]);
    if (this.#difficulty === undefined && this.#works.hasTarget) {
      this.#options.onNote(
        'info',
        `the pool also sends mining.set_difficulty (${quoted}): what counts is its mining.set_target`,
      );
    }
    this.#difficulty = quoted;
  }

  #setNonce1(params: readonly unknown[]): void {
    const [hex, size] = params;
    const isHex = typeof hex === 'string' && /^(0x)?[\da-f]*$/i.test(hex);
    // An empty nonce1 leaves the whole nonce to the miner. It is accepted only if the size confirms this.
    if (!isHex || (/^(0x)?$/i.test(hex) && typeof size !== 'number'))
      throw this.#unreadable('a nonce1', params, this.#works.hasNonce1);
    const nonce1 = parseNonce1(hex, size);
    if (typeof nonce1 === 'string') throw unusable(nonce1);
    this.#works.setNonce1(nonce1);
  }

  #reconnect(params: readonly unknown[]): void {
    const { address, limits } = this.#options;
    const { host = address.host, port = address.port, waitMs } = parseReconnect(params);
    const next = poolAddress(host.toLowerCase(), port, address.tls);
    const refusal = next.host === address.host ? undefined : this.#whyNotTo(next.host);
    if (refusal !== undefined) {
      this.#refuseHost(`the pool asks to connect to another host, ${next.url}, which is refused${refusal}`);
      return;
    }
    const where = next.url === address.url ? 'again' : `to ${next.url}`;
    const reconnect = {
      address: next,
      mustBePublic: this.#isPublic,
      waitMs: Math.min(waitMs, limits.mostReconnectWaitMs),
    };
    throw new PoolError('intended', `the pool asks to connect ${where}.`, { next: reconnect });
  }

  /** @returns why the pool must not redirect to this host, as the end of a sentence; undefined if it may */
  #whyNotTo(host: string): string | undefined {
    if (!this.#options.allowReconnect) return '. To allow such requests: --pool-allow-reconnect (pool.allow-reconnect)';
    // Without this check, a public pool could redirect to a machine in the private network, and that machine would get
    // the user and password.
    return this.#isPublic && isPrivate(host)
      ? ': a pool of the Internet cannot lead into a private network'
      : undefined;
  }

  #refuseHost(reason: string): void {
    if (this.#hasRefusedHost) return;
    this.#hasRefusedHost = true;
    this.#options.onNote('warning', reason);
  }

  /**
   * @param what the unreadable thing, with its article
   * @param hasOther whether an earlier thing of this kind can be used instead
   * @returns an error that skips the message if `hasOther`; otherwise an error that ends the connection
   */
  #unreadable(what: string, params: readonly unknown[], hasOther: boolean): PoolError | UnreadableError {
    if (hasOther) return new UnreadableError(`${what}, ${quoteJson(params)}`);
    return new PoolError('refused', `the pool sent ${what} that cannot be read: ${quoteJson(params)}`);
  }

  /**
   * Reports the stale works and the new work, once there is a nonce1, and the pool has accepted the user or has not
   * answered about it in time.
   */
  #update(): void {
    if (!this.#authorized) return;
    const { stale, reason, work } = this.#works.take();
    if (stale.length > 0) this.#options.onStale(stale, reason);
    if (work) this.#options.onWork(work);
  }

  #watchForWork(): Timer {
    const { limits } = this.#options;
    return this.#options.clock.setTimeout(() => {
      const seconds = Math.round(limits.noWorkMs / 1000);
      this.end(new PoolError('network', `the pool has sent no job for ${seconds} s.`));
    }, limits.noWorkMs);
  }

  #happened(what: keyof SessionTimes): void {
    this.times[what] ??= this.#options.clock.monotonicMs() - this.#beganMs;
  }
}
