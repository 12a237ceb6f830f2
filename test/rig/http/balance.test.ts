import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import type { FastifyReply } from 'fastify';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { wallMs } from '#pickaxe/base/system/clock.js';
import { KeptBalance } from '#pickaxe/rig/http/api.js';
import { httpLimits } from '#pickaxe/rig/http/http-access.js';
import { type AskBalance, type Balance, NoBalance } from '#pickaxe/rig/status/earnings.js';
import { PATIENCE } from '../../patience.ts';
import { BALANCE, FakeClock } from '../status/fakes.ts';
import { serve } from './serving.ts';

const WHOLE: Balance = { ...BALANCE, total: '12.5' };
const PATH = '/api/v1/balance';

/** A request that a test answers, and a count of the requests. */
function question() {
  const asked: { resolve: (balance: Balance) => void; reject: (fault: Error) => void; stop: AbortSignal }[] = [];
  const ask: AskBalance = (stop) =>
    new Promise((resolve, reject) => {
      stop.addEventListener('abort', () => reject(stop.reason));
      asked.push({ resolve, reject, stop });
    });
  const askedTimes = (times: number) => vi.waitFor(() => expect(asked).toHaveLength(times), PATIENCE);
  return { asked, ask, askedTimes };
}

describe('/api/v1/balance', () => {
  it('is what the node says, and when', async () => {
    const { ask, clock } = await serve({}, async () => BALANCE);
    const { status, json } = await ask(PATH);
    expect([status, json]).toEqual([200, { ...BALANCE, timeMillis: wallMs(clock) }]);
  });

  it('asks nobody until a client asks, and the node once for clients that ask at once', async () => {
    const { asked, ask: askBalance, askedTimes } = question();
    const { ask } = await serve({}, askBalance);
    await ask('/api/v1/status');
    expect(asked).toEqual([]);
    const answers = Promise.all([ask(PATH), ask(PATH), ask(PATH)]);
    await askedTimes(1);
    asked[0].resolve(WHOLE);
    expect((await answers).map(({ json }) => json.total)).toEqual(['12.5', '12.5', '12.5']);
    expect(asked).toHaveLength(1);
  });

  it('asks no second question while one is under way, however long that takes', async () => {
    const { asked, ask } = question();
    const clock = new FakeClock();
    const { route } = new KeptBalance(ask, clock, { ...httpLimits, balanceMs: 1e6 });
    const get = () => route.answer({ query: {}, body: {}, ifNoneMatch: undefined }, {} as FastifyReply);
    const first = get();
    clock.advance(1e6);
    const second = get();
    asked[0].resolve(WHOLE);
    expect(await first).toBe(await second);
    expect(asked).toHaveLength(1);
  });

  it('keeps what the node said for half a minute, and then asks again', async () => {
    const { asked, ask: askBalance, askedTimes } = question();
    const { ask, clock } = await serve({}, askBalance);
    const first = ask(PATH);
    await askedTimes(1);
    asked[0].resolve(BALANCE);
    const { timeMillis } = (await first).json;
    clock.advance(29_999);
    expect((await ask(PATH)).json.timeMillis).toBe(timeMillis);
    expect(asked).toHaveLength(1);
    clock.advance(1);
    const second = ask(PATH);
    await askedTimes(2);
    asked[1].resolve({ ...BALANCE, total: '99.0' });
    expect((await second).json).toMatchObject({ total: '99.0', timeMillis: timeMillis + 30_000 });
  });

  it('says that no node can tell, and asks again only after some seconds', async () => {
    const { asked, ask: askBalance, askedTimes } = question();
    const { ask, clock, logged } = await serve({}, askBalance);
    const failing = ask(PATH);
    await askedTimes(1);
    asked[0].reject(new NoBalance('cannot reach http://127.0.0.1:9'));
    const error = { code: 'node-failed', message: 'cannot reach http://127.0.0.1:9' };
    expect(await failing).toMatchObject({ status: 502, json: { error } });
    clock.advance(4_999);
    expect(await ask(PATH)).toMatchObject({ status: 502, json: { error } });
    expect(asked).toHaveLength(1);
    clock.advance(1);
    const again = ask(PATH);
    await askedTimes(2);
    asked[1].resolve(BALANCE);
    expect((await again).status).toBe(200);
    expect(logged).toEqual([]);
  });

  it('does not wait for a node that never answers', async () => {
    const { asked, ask: askBalance } = question();
    const { ask } = await serve({ limits: { balanceMs: 50 } }, askBalance);
    const { status, json } = await ask(PATH);
    const message = 'no node said within 0.05 s what the account has';
    expect([status, json]).toEqual([502, { error: { code: 'node-failed', message } }]);
    expect(asked[0].stop.aborted).toBe(true);
  });

  it('says that there is no node to ask where the rig mines on none', async () => {
    const { ask } = await serve();
    const { status, json } = await ask(PATH);
    expect([status, json.error.code]).toEqual([404, 'no-node']);
    expect(json.error.message).toContain('there is no node to ask for a balance');
  });

  it('needs the token', async () => {
    const { asked, ask: askBalance } = question();
    const { ask } = await serve({ token: 'a-token-of-some-length' }, askBalance);
    expect((await ask(PATH)).status).toBe(401);
    expect(asked).toEqual([]);
  });

  it('is a fault of pickaxe, and logged, where the question fails in another way', async () => {
    const { ask, logged } = await serve({}, async () => {
      throw new TypeError('a fault in the code');
    });
    expect(await ask(PATH)).toMatchObject({ status: 500, json: { error: { code: 'internal' } } });
    expect(logged).toMatchObject([{ level: 'error', message: expect.stringContaining('a fault in the code') }]);
  });

  it('ends its question with the server', async () => {
    const { asked, ask: askBalance, askedTimes } = question();
    const { ask, http, logged } = await serve({}, askBalance);
    // The test allows both: that the answer is still sent before the connection ends, and that it is not.
    const ended = ask(PATH).then(
      ({ status }) => status,
      ({ code }) => code,
    );
    await askedTimes(1);
    await http.close();
    expect(asked[0].stop.aborted).toBe(true);
    expect([503, 'ECONNRESET']).toContain(await ended);
    expect(logged).toEqual([]);
  });

  it('may take its time on a connection that was idle before', async () => {
    const { asked, ask: askBalance, askedTimes } = question();
    const { port, clock } = await serve({ limits: { checkMs: 5 } }, askBalance);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    const get = async (path: string) => {
      const sent = request({ host: '127.0.0.1', port, path, agent }).end();
      const [response] = await once(sent, 'response');
      let text = '';
      for await (const chunk of response) text += chunk;
      return { text, isReused: sent.reusedSocket };
    };
    await get('/healthz');
    // This connection sends no request, so its end shows that the times of connections were checked.
    const idle = connect(port, '127.0.0.1').on('error', () => {});
    const ended = once(idle, 'close');
    await once(idle, 'connect');
    clock.advance(9_000);
    const late = get(PATH);
    await askedTimes(1);
    clock.advance(9_000);
    await ended;
    asked[0].resolve(WHOLE);
    const { text, isReused } = await late;
    expect([JSON.parse(text).total, isReused]).toEqual(['12.5', true]);
  });
});
