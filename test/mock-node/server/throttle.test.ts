/** The counters of requests, with a clock that the test sets. `throttle.long.test.ts` asks whole nodes. */

import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { Throttle } from '#pickaxe/mock-node/server/throttle.js';
import { mocksOf } from '../ask.ts';
import type { OtherOptions } from '../node.ts';

const RATES = { global: 1, mempool: 1, putPeer: 1 };

function throttling(rates = RATES, sendsRetryAfter = false) {
  let nowMs = 0;
  const clock = { ...systemClock, nowUs: () => 0n, monotonicMs: () => nowMs };
  const throttle = new Throttle({ rates, sendsRetryAfter, clock });
  const refusal = (url: string, { address = 'a', method = 'GET', dialect = 'document' as const } = {}) => {
    const request = { socket: { remoteAddress: address }, url, method } as unknown as IncomingMessage;
    return throttle.refusalOf(request, dialect);
  };
  /** @returns the number of allowed requests before the first refusal, at most 100 */
  const allowed = (url: string, method = 'GET') => {
    for (let count = 0; count < 100; count++) if (refusal(url, { method })) return count;
    return 100;
  };
  const wait = (ms: number) => {
    nowMs += ms;
  };
  return { refusal, allowed, wait };
}

it('the requests of a thousand addresses are counted, those that have asked last', () => {
  const { refusal } = throttling();
  const isRefused = (address: string) => refusal('/cut', { address }) !== undefined;
  for (const address of ['first', 'second']) {
    expect([1, 2, 3, 4, 5].map(() => isRefused(address))).toEqual([false, false, false, false, true]);
  }
  for (let i = 0; i < 999; i++) isRefused(`another ${i}`);
  // A dropped address has the full number of requests again.
  expect([isRefused('second'), isRefused('first')]).toEqual([true, false]);
});

describe('of requests', () => {
  it.each([
    ['GET', '/cut', 20],
    ['GET', '/chain/0/mempool/peer?mempool', 8],
    ['GET', '/cut?/mempool/peer', 20],
    ['PUT', '/cut/peer', 12],
    ['GET', '/cut/peer', 20],
    ['POST', '/cut/peer', 20],
    ['PUT', '/chain/0/mempool/peer', 8],
  ])('%s %s, four seconds’ worth are allowed at once: %i', (method, url, most) => {
    expect(throttling({ global: 5, mempool: 2, putPeer: 3 }).allowed(url, method)).toBe(most);
  });

  it('as many are allowed later as the time has saved, and never more than four seconds’ worth', () => {
    const { allowed, wait } = throttling({ ...RATES, global: 2.5 });
    const counts = [0, 399, 1, 800, 4_800, 3_600_000].map((ms) => {
      wait(ms);
      return allowed('/cut');
    });
    expect(counts).toEqual([12, 0, 1, 2, 12, 12]);
  });
});

it.each<[NonNullable<OtherOptions['throttled']>, service: number, p2p: number]>([
  ['none', 200, 200],
  ['p2p', 200, 429],
  ['all', 429, 429],
])(
  'a node that throttles %s answers the sixth request of a client with %i, and on its P2P side with %i',
  async (...row) => {
    const [throttled, ...expected] = row;
    const clock = { ...systemClock, nowUs: () => systemClock.nowUs(), monotonicMs: () => 0 };
    const options = { chains: 4, p2p: 'plain', throttled, throttling: { global: 1 } } as const;
    const { ask, p2p } = await mocksOf('chainweb')(options, { clock });
    const statuses = [];
    for (const side of [ask, p2p]) {
      for (let i = 0; i < 5; i++) await side('/cut');
      statuses.push((await side('/cut')).status);
    }
    expect(statuses).toEqual(expected);
  },
);

describe('a refusal', () => {
  it.each([
    ['global', '/cut', '2'],
    ['mempool', '/mempool', '4'],
  ] as const)('by the counter %s says how long to wait, the longest of all, in whole seconds', (_, url, seconds) => {
    const { refusal, allowed } = throttling({ global: 0.75, mempool: 0.25, putPeer: 1 }, true);
    allowed(url);
    expect(refusal(url)).toEqual({
      status: 429,
      text: 'Too many requests.',
      headers: { 'content-type': 'application/json', 'retry-after': seconds },
      foreign: false,
    });
  });
});
