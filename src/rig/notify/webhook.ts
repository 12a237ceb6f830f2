/** Sends notices to a URL as JSON, in order, one in each POST. The URL may be secret, so only its origin is shown. */

import type { Logger } from 'pino';
import { Agent, request } from 'undici';
import { TCP_CONNECTING } from '../../base/net/connecting.ts';
import { pause, within } from '../../base/system/abort.ts';
import { systemClock } from '../../base/system/clock.ts';
import { version } from '../../base/system/version.ts';
import { jsonText, oneLine } from '../../base/text/plain-text.ts';
import type { Notice, NoticeType } from './notices.ts';

interface WebhookLimits {
  /** Time limit of one attempt, from connecting to the end of the answer. */
  readonly timeoutMs: number;
  /**
   * Pauses before the second and each further attempt. After the last pause, there is one more attempt, the last one.
   */
  readonly retryAfterMs: readonly number[];
  /** Maximum number of waiting notices. */
  readonly waiting: number;
  /** Time limit for all remaining notices when pickaxe ends. */
  readonly endMs: number;
}

const WEBHOOK_LIMITS: WebhookLimits = {
  timeoutMs: 10_000,
  retryAfterMs: [1_000, 5_000, 25_000],
  waiting: 32,
  endMs: 5_000,
};

/**
 * Maximum number of bytes that are read of an answer's body. The body is ignored, but it must be read before the
 * connection can be used again.
 */
const MAX_ANSWER_BYTES = 16_384;

export interface WebhookOptions {
  readonly url: URL;
  /** Token that is sent as `authorization: Bearer …`. */
  readonly token?: string;
  readonly events: ReadonlySet<NoticeType>;
  readonly log: Logger;
  readonly limits?: WebhookLimits;
}

/** Thrown when the answer shows that sending the notice again would be useless. */
class Refused extends Error {}

export class Webhook {
  readonly #options: WebhookOptions;
  readonly #limits: WebhookLimits;
  readonly #agent: Agent;
  readonly #queue: Queue<Notice>;
  /** Whether the last notice was not delivered. Only the first of several failures in a row is logged as a warning. */
  #failing = false;

  constructor(options: WebhookOptions) {
    const { limits = WEBHOOK_LIMITS } = options;
    const { timeoutMs, waiting } = limits;
    this.#options = options;
    this.#limits = limits;
    this.#agent = new Agent({
      // Certificates are always checked. Otherwise NODE_TLS_REJECT_UNAUTHORIZED, which may be set for another program,
      // could reveal the token to any server.
      connect: { timeout: timeoutMs, rejectUnauthorized: true, ...TCP_CONNECTING },
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      connections: 1,
    });
    this.#queue = new Queue({
      atOnce: 1,
      most: waiting,
      work: (notice, stop) => this.#deliver(notice, stop),
      dropped: ({ type }) => this.#fail(type, 'too many events are waiting, or pickaxe has ended'),
    });
  }

  readonly send = (notice: Notice): void => {
    if (this.#options.events.has(notice.type)) this.#queue.push(notice);
  };

  async end(): Promise<void> {
    await this.#queue.end(this.#limits.endMs);
    await this.#agent.destroy();
  }

  async #deliver(notice: Notice, stop: AbortSignal): Promise<void> {
    for (const waitMs of [...this.#limits.retryAfterMs, undefined]) {
      try {
        await within(systemClock, this.#limits.timeoutMs, stop, (signal) => this.#post(notice, stop, signal));
        this.#failing = false;
        return;
      } catch (fault) {
        // The message may quote a certificate, whose text anybody can choose. So the message is made harmless for the
        // log.
        const message = oneLine((fault as Error).message);
        if (fault instanceof Refused || waitMs === undefined || stop.aborted) return this.#fail(notice.type, message);
        this.#options.log.debug({ tag: 'hook' }, `${this.#name} ${notice.type}: ${message}; trying again`);
        await pause(systemClock, waitMs, stop);
      }
    }
  }

  /**
   * @param signal aborts the attempt when `stop` is aborted, and at the time limit
   * @throws Error when the notice was not accepted; Refused when further attempts are useless
   */
  async #post(notice: Notice, stop: AbortSignal, signal: AbortSignal): Promise<void> {
    const { url, token } = this.#options;
    const headers = {
      'content-type': 'application/json',
      'user-agent': `pickaxe/${version}`,
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    };
    try {
      const options = {
        method: 'POST',
        headers,
        body: jsonText(webhookBody(url, notice)),
        signal,
        dispatcher: this.#agent,
      } as const;
      const { statusCode, body } = await request(url, options);
      await body.dump({ limit: MAX_ANSWER_BYTES, signal }).catch(() => {});
      if (statusCode >= 200 && statusCode < 300) return;
      const transient = statusCode === 408 || statusCode === 429 || statusCode >= 500;
      // Redirects are not followed, because they would send the token and the notice to another server.
      const why = `it answered ${statusCode}${statusCode < 400 ? ', and redirects are not followed' : ''}`;
      throw transient ? new Error(why) : new Refused(why);
    } catch (fault) {
      if (fault instanceof Refused) throw fault;
      if (stop.aborted) throw new Error('pickaxe ended before it answered', { cause: fault });
      if (signal.aborted) throw new Error(`no answer within ${this.#limits.timeoutMs / 1000} s`, { cause: fault });
      throw fault;
    }
  }

  #fail(type: NoticeType, why: string): void {
    const level = this.#failing ? 'debug' : 'warn';
    this.#failing = true;
    this.#options.log[level]({ tag: 'hook' }, `${this.#name} did not get the event ${type}: ${why}`);
  }

  get #name(): string {
    return this.#options.url.origin;
  }
}

/** Matches the hosts of Discord, including those of its public test versions. */
const DISCORD = /^(?:(?:canary|ptb)\.)?discord(?:app)?\.com$/;

/**
 * @returns the notice. For Discord, it has two more fields. Discord requires `content`. Without `allowed_mentions`,
 *   names in the text would notify Discord's users, and a node may have chosen a part of the text
 */
export function webhookBody({ hostname }: URL, notice: Notice): object {
  if (!DISCORD.test(hostname)) return notice;
  return { ...notice, content: notice.text, allowed_mentions: { parse: [] } };
}

/* A bounded queue whose items are handled in the background, so that the miner never waits for hooks and webhooks. */

interface QueueOptions<T> {
  /** Maximum number of items for which `work` runs at the same time. */
  readonly atOnce: number;
  /** Maximum number of waiting items. */
  readonly most: number;
  /** Handles an item. It must not throw, and must end soon after `stop` is aborted. */
  readonly work: (item: T, stop: AbortSignal) => Promise<void>;
  /** Called with each item that is dropped because the queue is full, or because `end` took too long. */
  readonly dropped: (item: T) => void;
}

export class Queue<T> {
  readonly #options: QueueOptions<T>;
  readonly #waiting: T[] = [];
  readonly #running = new Set<Promise<void>>();
  readonly #stopping = new AbortController();

  constructor(options: QueueOptions<T>) {
    this.#options = options;
  }

  push(item: T): void {
    const { most, dropped } = this.#options;
    if (this.#waiting.length >= most) dropped(item);
    else this.#waiting.push(item);
    this.#next();
  }

  /** Waits until all items are handled. After `withinMs`, waiting items are dropped and running ones stopped. */
  async end(withinMs: number): Promise<void> {
    const timer = setTimeout(() => {
      for (const item of this.#waiting.splice(0)) this.#options.dropped(item);
      this.#stopping.abort();
    }, withinMs);
    while (this.#running.size > 0) await Promise.race(this.#running);
    clearTimeout(timer);
  }

  #next(): void {
    const { atOnce, work } = this.#options;
    if (this.#running.size >= atOnce) return;
    const item = this.#waiting.shift();
    if (item === undefined) return;
    const done = work(item, this.#stopping.signal).finally(() => {
      this.#running.delete(done);
      this.#next();
    });
    this.#running.add(done);
  }
}
