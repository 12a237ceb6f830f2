/** The page's requests to the miner that serves it. */

import type { BalanceAnswer, HistoryAnswer, LogAnswer } from '../report/answers.ts';
import type { Status } from '../report/status.ts';
import { keep, recall } from './dom.ts';

export type Range = HistoryAnswer['range'];

/** A miner that takes longer hangs, or the way to it does. */
const TIMEOUT_MS = 5_000;
/** The miner asks its nodes first, which it gives 10 s. */
const BALANCE_TIMEOUT_MS = 15_000;
const TOKEN = 'pickaxe-token';

/** The miner answered, but not with what was asked for. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export class Api {
  #token = recall('sessionStorage', TOKEN);

  /** Whether there is one to send. */
  get hasToken(): boolean {
    return this.#token !== null;
  }

  /** Kept until the tab is closed. */
  useToken(token: string): void {
    this.#token = token;
    keep('sessionStorage', TOKEN, token);
  }

  status(): Promise<Status> {
    return this.#get('status');
  }

  balance(): Promise<BalanceAnswer> {
    return this.#get('balance', BALANCE_TIMEOUT_MS);
  }

  history(range: Range): Promise<HistoryAnswer> {
    return this.#get(`history?range=${range}`);
  }

  /** Lines with a higher number. */
  logAfter(number: number): Promise<LogAnswer> {
    return this.#get(`log?after=${number}`);
  }

  /** @param device its name; without it, the request is for all devices */
  async control(action: 'pause' | 'resume', device?: string): Promise<void> {
    await this.#ask(action, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(device === undefined ? {} : { device }),
    });
  }

  async #get<Answer>(path: string, timeoutMs?: number): Promise<Answer> {
    return (await this.#ask(path, {}, timeoutMs)).json();
  }

  /** @throws ApiError for an answer that is an error; TypeError or DOMException without an answer */
  async #ask(
    path: string,
    options: { method?: string; headers?: Record<string, string>; body?: string },
    timeoutMs = TIMEOUT_MS,
  ): Promise<Response> {
    const response = await fetch(`/api/v1/${path}`, {
      ...options,
      headers: { ...options.headers, ...(this.#token !== null && { authorization: `Bearer ${this.#token}` }) },
      cache: 'no-store',
      credentials: 'omit',
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (response.ok) return response;
    throw new ApiError(response.status, await messageOf(response));
  }
}

async function messageOf(response: Response): Promise<string> {
  try {
    const { error } = await response.json();
    return String(error.message);
  } catch {
    return `HTTP ${response.status}`;
  }
}

/* Asks again and again while somebody can see the page; after failures with growing waits. */

const INTERVAL_MS = 2_000;
/** Soon enough for somebody who watches the miner come back. */
const LONGEST_MS = 10_000;

export class Poller {
  readonly #ask: () => Promise<void>;
  readonly #failed: (fault: unknown) => void;
  #again = false;
  #wake: () => void = () => {};

  /** @param failed is called for every failure of `ask` */
  constructor(ask: () => Promise<void>, failed: (fault: unknown) => void) {
    this.#ask = ask;
    this.#failed = failed;
    document.addEventListener('visibilitychange', () => this.now());
    window.addEventListener('online', () => this.now());
  }

  /** Asks at once, or once more if it is asking. */
  now(): void {
    this.#again = true;
    this.#wake();
  }

  /** Does not return. */
  async run(): Promise<void> {
    let waitMs = INTERVAL_MS;
    for (;;) {
      this.#again = false;
      try {
        if (!document.hidden) await this.#ask();
        waitMs = INTERVAL_MS;
      } catch (fault) {
        this.#failed(fault);
        waitMs = Math.min(LONGEST_MS, waitMs * 1.5);
      }
      if (!this.#again) await this.#sleep(document.hidden ? undefined : waitMs);
    }
  }

  /** @param ms how long; absent, until `now` is called */
  #sleep(ms: number | undefined): Promise<void> {
    return new Promise((resolve) => {
      const timer = ms === undefined ? undefined : setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
