/**
 * Refuses clients with too many requests. Like real nodes, the mock node has three counters for each address: one for
 * all requests, one for requests to mempools, and one for requests that add peers. After a pause, a client may send as
 * many requests at once as are allowed in four seconds.
 */

import type { IncomingMessage } from 'node:http';
import { BoundedMap } from '../../base/system/bounded.ts';
import type { Clock } from '../../base/system/clock.ts';
import type { Dialect } from '../../protocol/ledger/header.ts';
import type { Message } from './route.ts';

/** Maximum numbers of requests per second from one address. */
interface Rates {
  readonly global: number;
  /** For requests to mempools, including those about the peers of mempools. */
  readonly mempool: number;
  readonly putPeer: number;
}

interface ThrottleOptions {
  readonly rates: Rates;
  /** Whether a refusal has the header `retry-after`. */
  readonly sendsRetryAfter: boolean;
  readonly clock: Clock;
}

interface Bucket {
  tokens: number;
  atMs: number;
}

const SAVED_S = 4;
/** Maximum number of counters. Each counts the requests of one kind from one address. */
const MAX_COUNTERS = 1000;

export class Throttle {
  readonly #rates: Rates;
  readonly #sendsRetryAfter: boolean;
  readonly #clock: Clock;
  /** The counters, by kind and address. */
  readonly #buckets = new BoundedMap<string, Bucket>(MAX_COUNTERS);

  constructor({ rates, sendsRetryAfter, clock }: ThrottleOptions) {
    this.#rates = rates;
    this.#sendsRetryAfter = sendsRetryAfter;
    this.#clock = clock;
  }

  /**
   * Counts a request.
   * @returns the refusal if there are too many requests. In the API of real nodes, a refusal lacks the node's headers
   */
  refusalOf(request: IncomingMessage, dialect: Dialect): Message | undefined {
    const { remoteAddress = '' } = request.socket;
    const waits = kindsOf(request).map((kind) => this.#spend(kind, remoteAddress));
    const waitMs = Math.max(...waits);
    if (waitMs === 0) return undefined;
    const wait = this.#sendsRetryAfter ? { 'retry-after': String(Math.ceil(waitMs / 1000)) } : {};
    const headers = { 'content-type': 'application/json', ...wait };
    return { status: 429, text: 'Too many requests.', headers, foreign: dialect === 'chainweb' };
  }

  /** @returns 0 if the request is allowed; otherwise the time in ms until a request will be allowed */
  #spend(kind: keyof Rates, address: string): number {
    const rate = this.#rates[kind];
    const most = Math.ceil(rate) * SAVED_S;
    const nowMs = this.#clock.monotonicMs();
    const key = `${kind} ${address}`;
    const { tokens, atMs } = this.#buckets.get(key) ?? { tokens: most, atMs: nowMs };
    const saved = Math.min(most, tokens + ((nowMs - atMs) / 1000) * rate);
    const mayPass = saved >= 1;
    // A full map drops the counter that has not been used for the longest time. A later counter of the same address
    // begins with the maximum.
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
