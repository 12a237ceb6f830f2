/**
 * A webhook: notices as JSON, one POST each, in order. Its URL is as good as a password with many services, so only the
 * host is ever said.
 */

import type { Logger } from 'pino';
import { Agent, request } from 'undici';
import { pause, within } from '../system/abort.ts';
import { oneLine } from '../text/one-line.ts';
import type { Notice, NoticeName } from './notices.ts';
import { Queue } from './queue.ts';

export interface WebhookLimits {
  /** From connecting to the end of the answer. */
  readonly timeoutMs: number;
  /** Before each further try. */
  readonly retryAfterMs: readonly number[];
  /** Notices that wait for their turn. */
  readonly waiting: number;
  /** What is not told by then at the end stays untold. */
  readonly endMs: number;
}

export const WEBHOOK_LIMITS: WebhookLimits = {
  timeoutMs: 10_000,
  retryAfterMs: [1_000, 5_000, 25_000],
  waiting: 32,
  endMs: 5_000,
};

/** Answers do not matter: read as far as this, so that the connection can be used again. */
const MAX_ANSWER_BYTES = 16_384;

export interface WebhookOptions {
  readonly url: URL;
  /** Sent as `authorization: Bearer …`. */
  readonly token?: string;
  readonly events: ReadonlySet<NoticeName>;
  readonly userAgent: string;
  readonly log: Logger;
  readonly limits?: WebhookLimits;
}

/** An answer that further tries will not change. */
class Refused extends Error {}

export class Webhook {
  readonly #options: WebhookOptions;
  readonly #limits: WebhookLimits;
  readonly #agent: Agent;
  readonly #queue: Queue<Notice>;
  /** The last notice could not be told: that is said once, until one can. */
  #failing = false;

  constructor(options: WebhookOptions) {
    const { limits = WEBHOOK_LIMITS } = options;
    const { timeoutMs, waiting } = limits;
    this.#options = options;
    this.#limits = limits;
    this.#agent = new Agent({
      // Otherwise NODE_TLS_REJECT_UNAUTHORIZED, set for some other program, would have any server take the token.
      connect: { timeout: timeoutMs, rejectUnauthorized: true },
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      connections: 1,
    });
    this.#queue = new Queue({
      atOnce: 1,
      most: waiting,
      work: (notice, stop) => this.#deliver(notice, stop),
      dropped: ({ event }) => this.#fail(event, 'too many notices are waiting, or pickaxe has ended'),
    });
  }

  readonly tell = (notice: Notice): void => {
    if (this.#options.events.has(notice.event)) this.#queue.push(notice);
  };

  async end(): Promise<void> {
    await this.#queue.end(this.#limits.endMs);
    await this.#agent.destroy();
  }

  async #deliver(notice: Notice, stop: AbortSignal): Promise<void> {
    for (const waitMs of [...this.#limits.retryAfterMs, undefined]) {
      try {
        await within(this.#limits.timeoutMs, stop, (signal) => this.#post(notice, stop, signal));
        this.#failing = false;
        return;
      } catch (fault) {
        // It may quote the certificate, which anybody may have written.
        const message = oneLine((fault as Error).message);
        if (fault instanceof Refused || waitMs === undefined || stop.aborted) return this.#fail(notice.event, message);
        this.#options.log.debug({ tag: 'hook' }, `${this.#name} ${notice.event}: ${message}; tried again`);
        await pause(waitMs, stop);
      }
    }
  }

  /**
   * @param signal fires with `stop`, and when the time for an answer is over
   * @throws Error when it was not taken: Refused, where trying again makes no sense
   */
  async #post(notice: Notice, stop: AbortSignal, signal: AbortSignal): Promise<void> {
    const { url, token, userAgent } = this.#options;
    const headers = {
      'content-type': 'application/json',
      'user-agent': userAgent,
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    };
    try {
      const options = {
        method: 'POST',
        headers,
        body: JSON.stringify(notice),
        signal,
        dispatcher: this.#agent,
      } as const;
      const { statusCode, body } = await request(url, options);
      await body.dump({ limit: MAX_ANSWER_BYTES, signal }).catch(() => {});
      if (statusCode >= 200 && statusCode < 300) return;
      const transient = statusCode === 408 || statusCode === 429 || statusCode >= 500;
      // A redirect would take the token, and what it is told, to where nobody sent it.
      const why = `it answered ${statusCode}${statusCode < 400 ? ', and redirects are not followed' : ''}`;
      throw transient ? new Error(why) : new Refused(why);
    } catch (fault) {
      if (fault instanceof Refused) throw fault;
      if (stop.aborted) throw new Error('pickaxe ended before it answered', { cause: fault });
      if (signal.aborted) throw new Error(`no answer within ${this.#limits.timeoutMs / 1000} s`, { cause: fault });
      throw fault;
    }
  }

  #fail(event: NoticeName, why: string): void {
    const level = this.#failing ? 'debug' : 'warn';
    this.#failing = true;
    this.#options.log[level]({ tag: 'hook' }, `${this.#name} was not told of ${event}: ${why}`);
  }

  get #name(): string {
    return this.#options.url.origin;
  }
}
