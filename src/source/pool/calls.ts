/** Acts on what a pool sends without being asked: jobs, targets, nonce1, and messages to the miner. */

import { isPrivate } from '../../net/connecting.ts';
import { type PoolAddress, poolAddress } from '../../text/addresses.ts';
import { parseHeader, parseTarget } from '../../wire/stratum.ts';
import type { SourceNews } from '../vocabulary.ts';
import { MOST_MESSAGES, type PoolLimits } from './limits.ts';
import {
  type Message,
  PoolError,
  parseNotice,
  parseReconnect,
  quote,
  quoteJson,
  speaksOfBan,
  unusable,
} from './messages.ts';
import { type PoolWorks, parseNonce1 } from './works.ts';

interface CallsOptions {
  /** Where the connection leads. */
  readonly address: PoolAddress;
  /** Whether the pool has an address of the Internet. */
  readonly isPublic: boolean;
  readonly userAgent: string;
  /** Whether `client.reconnect` may lead to other hosts. */
  readonly allowReconnect: boolean;
  readonly limits: PoolLimits;
  readonly works: PoolWorks;
  readonly notices: PoolNotices;
  /** Answers a call. */
  readonly answer: (id: unknown, result: unknown, error?: unknown) => void;
  readonly onTarget: () => void;
  readonly onJob: () => void;
  /** Called with what people should know. */
  readonly onNote: (state: SourceNews, reason: string) => void;
}

/** Stratum's error for a method that the other side does not have. */
const NO_SUCH_METHOD = [-3, 'method not found', null] as const;

export class PoolCalls {
  readonly #options: CallsOptions;
  /** The last `mining.set_difficulty`, for people. */
  #difficulty: string | undefined;
  #hasRefusedHost = false;

  constructor(options: CallsOptions) {
    this.#options = options;
  }

  /** @throws PoolError when the connection must end */
  apply({ id, method, params }: Message & { kind: 'call' }): void {
    const { answer, notices, userAgent } = this.#options;
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
        notices.show(params[0]);
        break;
      case 'client.get_version':
        answer(id ?? null, userAgent);
        break;
      default:
        // Without an id it is a notification, which nobody answers.
        if (id !== null && id !== undefined) answer(id, null, NO_SUCH_METHOD);
    }
  }

  #notify(params: readonly unknown[]): void {
    const { works, onJob } = this.#options;
    const notice = parseNotice(params);
    const header = notice && parseHeader(notice.header);
    if (!notice || !header) throw this.#unreadable('a job', params);
    if (typeof notice.job === 'number' && !Number.isSafeInteger(notice.job)) {
      // JSON.parse has rounded it, so every share would name another job.
      throw unusable('it names a job by a number beyond 2^53, which JSON readers round. It would have to send a text');
    }
    if (this.#difficulty !== undefined && !works.hasTarget) {
      // A guess would waste all shares: pools of this network name targets, and what difficulty 1 would mean is defined
      // nowhere.
      const why = 'and this network does not define what difficulty 1 is. It would have to send mining.set_target';
      throw unusable(`it sent mining.set_difficulty ${this.#difficulty} and no target, ${why}`);
    }
    onJob();
    works.notify({ name: notice.job, header, clean: notice.clean });
  }

  #setTarget(params: readonly unknown[]): void {
    const target = typeof params[0] === 'string' ? parseTarget(params[0]) : undefined;
    if (!target) throw this.#unreadable('a target', params);
    this.#options.onTarget();
    this.#options.works.setTarget(target);
  }

  #setDifficulty(params: readonly unknown[]): void {
    const { works, onNote } = this.#options;
    const said = quoteJson(params[0]);
    if (this.#difficulty === undefined && works.hasTarget) {
      onNote('info', `the pool also sends mining.set_difficulty (${said}): what counts is its mining.set_target`);
    }
    this.#difficulty = said;
  }

  #setNonce1([hex, size]: readonly unknown[]): void {
    const nonce1 = parseNonce1(hex, size);
    if (typeof nonce1 === 'string') throw unusable(nonce1);
    this.#options.works.setNonce1(nonce1);
  }

  #reconnect(params: readonly unknown[]): void {
    const { address, isPublic, limits } = this.#options;
    const { host = address.host, port = address.port, waitMs } = parseReconnect(params);
    const next = poolAddress(host.toLowerCase(), port, address.tls);
    const refusal = next.host === address.host ? undefined : this.#whyNotTo(next.host);
    if (refusal !== undefined) {
      this.#refuseHost(`the pool asks to connect to another host, ${next.url}, which is refused${refusal}`);
      return;
    }
    const where = next.url === address.url ? 'again' : `to ${next.url}`;
    const reconnect = { address: next, mustBePublic: isPublic, waitMs: Math.min(waitMs, limits.mostReconnectWaitMs) };
    throw new PoolError('intended', `the pool asks to connect ${where}.`, { next: reconnect });
  }

  /** @returns the end of a sentence; undefined when the pool may lead to this other host */
  #whyNotTo(host: string): string | undefined {
    const { allowReconnect, isPublic } = this.#options;
    if (!allowReconnect) return '. To allow such requests: --pool-allow-reconnect (pool.allow-reconnect)';
    // The user and the password would go to a machine of the own network, chosen by somebody outside.
    return isPublic && isPrivate(host) ? ': a pool of the Internet cannot lead into a private network' : undefined;
  }

  #refuseHost(reason: string): void {
    if (this.#hasRefusedHost) return;
    this.#hasRefusedHost = true;
    this.#options.onNote('warning', reason);
  }

  #unreadable(what: string, params: readonly unknown[]): PoolError {
    return new PoolError('refused', `the pool sent ${what} that cannot be read: ${quoteJson(params)}`);
  }
}

/**
 * What a pool says to people: each text is passed on once, on one line, and not too many of them. Words about a ban are
 * kept.
 */
export class PoolNotices {
  readonly #show: (text: string) => void;
  #last = '';
  #shown = 0;
  #ban: string | undefined;

  constructor(tell: (text: string) => void) {
    this.#show = tell;
  }

  /** What the pool said about a ban; undefined when it said nothing about one. */
  get ban(): string | undefined {
    return this.#ban;
  }

  /** Passes a text on, unless it is the last one again or there were too many. */
  show(text: unknown): void {
    if (typeof text !== 'string') return;
    this.note(text);
    const line = quote(text);
    if (line === '' || line === this.#last || this.#shown === MOST_MESSAGES) return;
    this.#last = line;
    this.#shown += 1;
    this.#show(`the pool says: “${line}”`);
  }

  /** Keeps a text if it is about a ban. */
  note(text: string): void {
    if (speaksOfBan(text)) this.#ban = quote(text);
  }
}
