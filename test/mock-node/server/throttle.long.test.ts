/** Clients with too many requests are refused, with a clock that the test sets. */

import { describe, expect, it, onTestFinished } from 'vitest';
import { type Clock, systemClock } from '#pickaxe/base/system/clock.js';
import { NodeApi } from '#pickaxe/node/client/node-api.js';
import type { Dialect } from '#pickaxe/protocol/ledger/header.js';
import { mocksOf } from '../ask.ts';
import type { OtherOptions } from '../node.ts';

async function startThrottled(options: OtherOptions = {}, dialect: Dialect = 'chainweb') {
  let monotonicMs = 0;
  const clock: Clock = { ...systemClock, nowUs: () => systemClock.nowUs(), monotonicMs: () => monotonicMs };
  const mock = await mocksOf(dialect)({ chains: 10, p2p: 'plain', ...options }, { clock });
  /** @returns the number of answered requests before the first refusal, at most `most` */
  const answered = async (send: () => Promise<{ readonly status: number }>, most: number) => {
    for (let count = 0; count < most; count++) if ((await send()).status === 429) return count;
    return most;
  };
  const wait = (ms: number) => {
    monotonicMs += ms;
  };
  return { ...mock, answered, wait };
}

describe('the P2P side', () => {
  it('answers a client four seconds’ worth of requests at once, and then as many as the rate', async () => {
    const { node, p2p, answered, wait } = await startThrottled();
    const cut = () => p2p('/cut');
    expect(await answered(cut, 300)).toBe(200);
    wait(100);
    expect(await answered(cut, 300)).toBe(5);
    wait(3_600_000);
    expect(await answered(cut, 300)).toBe(200);
    expect(node.p2p!.stats.throttled).toBe(3);
    // A refused request reaches no endpoint.
    expect(node.p2p!.stats.requests.cut).toBe(405);
  });

  it('answers fewer requests about memory pools, and fewer new peers', async () => {
    const throttling = { global: 100, mempool: 2, putPeer: 1 };
    const { p2p, answered, wait, url } = await startThrottled({ throttling });
    expect(await answered(() => p2p('/chain/3/mempool/peer'), 50)).toBe(8);
    const peer = { id: null, address: { hostname: '127.0.0.1', port: Number(new URL(url).port) } };
    const put = (path: string) => p2p(path, { method: 'PUT', body: peer });
    expect(await answered(() => put('/cut/peer'), 50)).toBe(4);
    wait(60_000);
    expect(await answered(() => put('/chain/3/mempool/peer'), 50)).toBe(4);
    expect((await p2p('/cut/peer')).status).toBe(200);
  });

  it('says it as real nodes do, without their headers and without how long to wait', async () => {
    const { p2p, p2pUrl, answered } = await startThrottled({ throttling: { global: 1 } });
    await answered(() => p2p('/cut'), 10);
    const { status, text, headers } = await p2p('/cut');
    expect([status, text]).toEqual([429, 'Too many requests.']);
    expect([headers['retry-after'], headers['x-server-timestamp']]).toEqual([undefined, undefined]);
    const options = { p2pUrl: p2pUrl!, network: 'development', dialect: 'chainweb' } as const;
    const api = new NodeApi(options, { limits: { attempts: 1 } });
    onTestFinished(() => api.close());
    const error = await api.cut().catch((thrown: Error) => thrown);
    expect(error).toMatchObject({ kind: 'too many requests', message: expect.not.stringContaining('URL right') });
  });

  it('is what the configuration says', async () => {
    const { askUrl, p2pUrl } = await startThrottled({ throttling: { mempool: 2.5 } });
    const { plain } = await askUrl(`${p2pUrl}/config`);
    expect(plain).toMatchObject({ throttling: { global: 50, mempool: 2.5, putPeer: 11 } });
  });
});

describe('the service side', () => {
  it('is not throttled unless it is asked for', async () => {
    const { ask, answered } = await startThrottled({ throttling: { global: 1 } });
    expect(await answered(() => ask('/cut'), 10)).toBe(10);
    const all = await startThrottled({ throttling: { global: 1 }, throttled: 'all' });
    expect(await all.answered(() => all.ask('/cut'), 10)).toBe(4);
    const none = await startThrottled({ throttling: { global: 1 }, throttled: 'none' });
    expect(await none.answered(() => none.p2p('/cut'), 10)).toBe(10);
  });

  it('of a gateway says how long to wait, and the client waits as long', async () => {
    const options = {
      throttling: { global: 0.5 },
      throttled: 'all',
      throttleRetryAfter: true,
    } as const;
    const { ask, answered, wait, url } = await startThrottled(options, 'document');
    expect(await answered(() => ask('/cut'), 10)).toBe(4);
    const { headers } = await ask('/cut');
    expect([headers['retry-after'], headers['x-ledger-node-version']]).toEqual(['2', '2.24.1']);
    const api = new NodeApi({ url, network: 'development', dialect: 'document' }, { limits: { attempts: 1 } });
    onTestFinished(() => api.close());
    await expect(api.cut()).rejects.toMatchObject({ kind: 'too many requests', retryAfterMs: 2_000, retryable: true });
    wait(2_000);
    expect((await api.cut()).heads.size).toBe(10);
  });
});
