/**
 * Refuses clients with too many requests. Like real nodes, it counts three kinds of requests for each address: adding
 * peers, memory pools, and all. A client can save the requests of up to four seconds.
 */

import type { IncomingMessage } from 'node:http';
import { BoundedMap } from '../../base/system/bounded.ts';
import type { Clock } from '../../base/system/clock.ts';
import type { Dialect } from '../../protocol/ledger/header.ts';
import type { Message } from './route.ts';

/** Requests per second for each address. */
interface Rates {
  readonly global: number;
  /** Below `mempool`, including its peers. */
  readonly mempool: number;
  readonly putPeer: number;
}

interface ThrottleOptions {
  readonly rates: Rates;
  /** Whether a refusal has `retry-after`. */
  readonly sendsRetryAfter: boolean;
  readonly clock: Clock;
}

interface Bucket {
  tokens: number;
  atMs: number;
}

const SAVED_S = 4;
/** Maximum number of addresses whose requests are counted. */
const MAX_ADDRESSES = 1000;

export class Throttle {
  readonly #rates: Rates;
  readonly #sendsRetryAfter: boolean;
  readonly #clock: Clock;
  /** By kind and address. */
  readonly #buckets = new BoundedMap<string, Bucket>(MAX_ADDRESSES);

  constructor({ rates, sendsRetryAfter, clock }: ThrottleOptions) {
    this.#rates = rates;
    this.#sendsRetryAfter = sendsRetryAfter;
    this.#clock = clock;
  }

  /** Counts a request. @returns the answer if there are too many requests. Real nodes send it without their headers */
  refusalOf(request: IncomingMessage, dialect: Dialect): Message | undefined {
    const { remoteAddress = '' } = request.socket;
    const waits = kindsOf(request).map((kind) => this.#spend(kind, remoteAddress));
    const waitMs = Math.max(...waits);
    if (waitMs === 0) return undefined;
    const wait = this.#sendsRetryAfter ? { 'retry-after': String(Math.ceil(waitMs / 1000)) } : {};
    const headers = { 'content-type': 'application/json', ...wait };
    return { status: 429, text: 'Too many requests.', headers, foreign: dialect === 'chainweb' };
  }

  /** @returns 0 if the request is allowed; otherwise the time until the next one is, in ms */
  #spend(kind: keyof Rates, address: string): number {
    const rate = this.#rates[kind];
    const most = Math.ceil(rate) * SAVED_S;
    const nowMs = this.#clock.monotonicMs();
    const key = `${kind} ${address}`;
    const { tokens, atMs } = this.#buckets.get(key) ?? { tokens: most, atMs: nowMs };
    const saved = Math.min(most, tokens + ((nowMs - atMs) / 1000) * rate);
    const mayPass = saved >= 1;
    // The map first drops the address whose last request is the oldest, which has saved the maximum again.
    this.#buckets.set(key, { tokens: mayPass ? saved - 1 : saved, atMs: nowMs });
    return mayPass ? 0 : Math.ceil(((1 - saved) / rate) * 1000);
  }
}

function kindsOf({ url = '/', method }: IncomingMessage): (keyof Rates)[] {
  const parts = url.split('?')[0].split('/');
  const kinds: (keyof Rates)[] = ['global'];
  if (parts.includes('mempool')) kinds.push('mempool');
  if (parts.includes('peer') && method === 'PUT') kinds.push('putPeer');
  return kinds;
}
