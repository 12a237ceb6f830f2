/** The page's requests to the miner or fleet that serves it. */

import type { BalanceAnswer, HistoryAnswer, LogAnswer } from '../http/api-answers.ts';
import type { Status } from '../status/status.ts';
import { keep, recall } from './dom.ts';

export type Range = HistoryAnswer['range'];

/** Time limit of a request. Usually, an answer takes milliseconds. */
const TIMEOUT_MS = 5_000;
/** Time limit of a request for the balance. The miner itself waits for its nodes for up to 10 s. */
const BALANCE_TIMEOUT_MS = 15_000;
const TOKEN = 'pickaxe-token';

/** Thrown when the server answers with an error. `status` is the HTTP status. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export class Requests {
  #token = recall('sessionStorage', TOKEN);

  get hasToken(): boolean {
    return this.#token !== null;
  }

  /** Sends this token with all further requests. The token is kept until the tab is closed. */
  useToken(token: string): void {
    this.#token = token;
    keep('sessionStorage', TOKEN, token);
  }

  /** @throws ApiError when the server answers with an error; TypeError or DOMException when it does not answer */
  async get<Answer>(path: string, timeoutMs?: number): Promise<Answer> {
    return (await this.#ask(path, {}, timeoutMs)).json();
  }

  /** @throws the same errors as `get` */
  post(path: string, body: object, timeoutMs?: number): Promise<Response> {
    const headers = { 'content-type': 'application/json' };
    return this.#ask(path, { method: 'POST', headers, body: JSON.stringify(body) }, timeoutMs);
  }

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

/** The requests to a miner. */
export class Api {
  readonly #requests: Requests;

  constructor(requests: Requests) {
    this.#requests = requests;
  }

  status(): Promise<Status> {
    return this.#requests.get('status');
  }

  balance(): Promise<BalanceAnswer> {
    return this.#requests.get('balance', BALANCE_TIMEOUT_MS);
  }

  history(range: Range): Promise<HistoryAnswer> {
    return this.#requests.get(`history?range=${range}`);
  }

  logAfter(number: number): Promise<LogAnswer> {
    return this.#requests.get(`log?after=${number}`);
  }

  async control(action: 'pause' | 'resume', device?: string): Promise<void> {
    await this.#requests.post(action, { device });
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

/* Polling while the page is visible. After each failure in a row, the wait becomes longer. */

const INTERVAL_MS = 2_000;
/** Maximum wait after failures. It is short, because somebody may be waiting until the server answers again. */
const LONGEST_MS = 10_000;

export class Poller {
  readonly #ask: () => Promise<void>;
  readonly #failed: (fault: unknown) => void;
  #again = false;
  #wake: () => void = () => {};

  /** @param failed called with the error of each failed call of `ask` */
  constructor(ask: () => Promise<void>, failed: (fault: unknown) => void) {
    this.#ask = ask;
    this.#failed = failed;
    document.addEventListener('visibilitychange', () => this.now());
    window.addEventListener('online', () => this.now());
  }

  /** Calls `ask` at once or, if a call is running, after it. While the page is hidden, `ask` is not called. */
  now(): void {
    this.#again = true;
    this.#wake();
  }

  /** Calls `ask` repeatedly. Never returns. */
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

  /** Waits for a time or until `now` is called. @param ms the time; undefined for no limit */
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
