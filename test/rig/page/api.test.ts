/** The page's requests and its polling: what is sent, how long it may take, and when the page asks again. */

import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Api, ApiError, Poller, Requests } from '#pickaxe/rig/page/api.js';
import { turns } from '../../turns.ts';
import { type Fetch, openWindow } from './window.ts';

/** What never differs between two requests. */
const ALWAYS = { cache: 'no-store', credentials: 'omit', signal: expect.any(AbortSignal) };

/** Opens a page whose requests get these answers, one after the other. The last one is repeated. */
function answering(...answers: (() => Response)[]) {
  const asked: { path: string; options: Parameters<Fetch>[1] }[] = [];
  const timeouts = vi.spyOn(AbortSignal, 'timeout');
  onTestFinished(() => timeouts.mockRestore());
  const opened = openWindow('rig', {
    fetch: (path, options) => {
      const answer = answers[Math.min(asked.length, answers.length - 1)];
      asked.push({ path, options });
      return answer();
    },
  });
  return { ...opened, asked, limits: () => timeouts.mock.calls.map(([ms]) => ms) };
}

const json = (body: unknown, status = 200) => new Response(JSON.stringify(body), { status });

describe('a request of the page', () => {
  it('has no token until there is one, and then always the last one', async () => {
    const { asked, window } = answering(() => json({ it: 'is' }));
    const requests = new Requests();
    expect(requests.hasToken).toBe(false);
    expect(await requests.get('some?thing=1')).toEqual({ it: 'is' });
    expect(asked).toEqual([{ path: '/api/v1/some?thing=1', options: { ...ALWAYS, headers: {} } }]);
    for (const token of ['first', 'second']) {
      requests.useToken(token);
      expect(requests.hasToken).toBe(true);
      await requests.get('status');
      expect(asked.at(-1)!.options).toEqual({ ...ALWAYS, headers: { authorization: `Bearer ${token}` } });
      expect(window.sessionStorage.getItem('pickaxe-token')).toBe(token);
      expect(window.localStorage.length).toBe(0);
    }
  });

  it('has the token that an earlier page of the tab has kept', async () => {
    const { asked, window } = answering(() => json({}));
    window.sessionStorage.setItem('pickaxe-token', 'kept');
    const requests = new Requests();
    expect(requests.hasToken).toBe(true);
    await requests.get('status');
    expect(asked[0].options.headers).toEqual({ authorization: 'Bearer kept' });
  });

  it('of a body is JSON, and has the token, too', async () => {
    const { asked, limits } = answering(() => json({}));
    const requests = new Requests();
    requests.useToken('a');
    await requests.post('pause', { device: 'gpu0' });
    await requests.post('resume', {}, 7_000);
    const headers = { 'content-type': 'application/json', authorization: 'Bearer a' };
    expect(asked).toEqual([
      { path: '/api/v1/pause', options: { ...ALWAYS, method: 'POST', headers, body: '{"device":"gpu0"}' } },
      { path: '/api/v1/resume', options: { ...ALWAYS, method: 'POST', headers, body: '{}' } },
    ]);
    expect(limits()).toEqual([5_000, 7_000]);
  });

  it.each([
    ['a message', () => json({ error: { message: 'it is busy' } }, 503), 503, 'it is busy'],
    ['a message that is no text', () => json({ error: { message: 7 } }, 400), 400, '7'],
    ['JSON without an error', () => json({}, 404), 404, 'HTTP 404'],
    ['JSON that is null', () => json(null, 500), 500, 'HTTP 500'],
    ['a text', () => new Response('<html>', { status: 502 }), 502, 'HTTP 502'],
  ])('that is answered with an error and %s fails with both', async (_, answer, status, message) => {
    answering(answer);
    const requests = new Requests();
    for (const ask of [() => requests.get('status'), () => requests.post('pause', {})]) {
      const fault = await ask().catch((fault) => fault);
      expect(fault).toBeInstanceOf(ApiError);
      expect(fault).toMatchObject({ name: 'ApiError', status, message });
    }
  });

  it('that is not answered fails with what the browser says', async () => {
    openWindow('rig');
    await expect(new Requests().get('status')).rejects.toThrow(TypeError);
  });

  it('has a path and a limit of its own for each purpose', async () => {
    const { asked, limits } = answering(() => json({ some: 'answer' }));
    const api = new Api(new Requests());
    const some = { some: 'answer' };
    expect(await api.status()).toEqual(some);
    expect(await api.balance()).toEqual(some);
    expect(await api.history('24h')).toEqual(some);
    expect(await api.logAfter(17)).toEqual(some);
    expect(await api.control('pause')).toBeUndefined();
    expect(await api.control('resume', 'gpu0')).toBeUndefined();
    expect(asked.map(({ path, options: { method = 'GET', body } }) => [method, path, body])).toEqual([
      ['GET', '/api/v1/status', undefined],
      ['GET', '/api/v1/balance', undefined],
      ['GET', '/api/v1/history?range=24h', undefined],
      ['GET', '/api/v1/log?after=17', undefined],
      ['POST', '/api/v1/pause', '{}'],
      ['POST', '/api/v1/resume', '{"device":"gpu0"}'],
    ]);
    expect(limits()).toEqual([5_000, 15_000, 5_000, 5_000, 5_000, 5_000]);
  });
});

/** Runs a poller whose calls the test answers. */
async function polling() {
  const opened = openWindow('rig');
  const { document, window } = opened;
  let hidden = false;
  Object.defineProperty(document, 'hidden', { get: () => hidden });
  let calls = 0;
  const waiting: { answer: () => void; fail: (fault: unknown) => void }[] = [];
  const faults: unknown[] = [];
  const poller = new Poller(
    () => {
      calls++;
      return new Promise((answer, fail) => waiting.push({ answer, fail }));
    },
    (fault) => faults.push(fault),
  );
  void poller.run();
  const end = async (settle: (call: (typeof waiting)[number]) => void) => {
    expect(waiting).toHaveLength(1);
    settle(waiting.pop()!);
    await turns();
  };
  return {
    poller,
    faults,
    calls: () => calls,
    answer: () => end(({ answer }) => answer()),
    fail: (fault: unknown) => end(({ fail }) => fail(fault)),
    /** Expects that the poller does not ask before this time has passed, and does then. */
    asksAfter: async (ms: number) => {
      const before = calls;
      expect(vi.getTimerCount()).toBe(1);
      await vi.advanceTimersByTimeAsync(ms - 1);
      expect(calls).toBe(before);
      await vi.advanceTimersByTimeAsync(1);
      expect(calls).toBe(before + 1);
    },
    hide: async (isHidden: boolean) => {
      hidden = isHidden;
      document.dispatchEvent(new window.Event('visibilitychange'));
      await turns();
    },
    goOnline: async () => {
      window.dispatchEvent(new window.Event('online'));
      await turns();
    },
  };
}

describe('a poller', () => {
  it('asks at once, and two seconds after each answer', async () => {
    const { calls, answer, asksAfter, faults } = await polling();
    expect(calls()).toBe(1);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(calls()).toBe(1);
    for (let i = 0; i < 3; i++) {
      await answer();
      await asksAfter(2_000);
    }
    expect(faults).toEqual([]);
  });

  it('waits longer after each failure in a row, but ten seconds at most', async () => {
    const { answer, fail, asksAfter, faults } = await polling();
    for (const [at, ms] of [3_000, 4_500, 6_750, 10_000, 10_000].entries()) {
      await fail(at);
      await asksAfter(ms);
    }
    expect(faults).toEqual([0, 1, 2, 3, 4]);
    await answer();
    await asksAfter(2_000);
    await fail('again');
    expect(faults.at(-1)).toBe('again');
    await asksAfter(3_000);
  });

  it('asks now if it is told to, and does not ask again at the time for which it waited', async () => {
    const { poller, calls, answer, asksAfter } = await polling();
    await answer();
    await vi.advanceTimersByTimeAsync(1_500);
    poller.now();
    expect(vi.getTimerCount()).toBe(0);
    await turns();
    expect(calls()).toBe(2);
    await vi.advanceTimersByTimeAsync(1_500);
    await answer();
    await asksAfter(2_000);
  });

  it('asks once more after a call during which it was told to, even if that failed', async () => {
    const { poller, calls, answer, fail, asksAfter } = await polling();
    poller.now();
    poller.now();
    await turns();
    expect(calls()).toBe(1);
    await answer();
    expect(calls()).toBe(2);
    poller.now();
    await fail('no');
    expect(calls()).toBe(3);
    await answer();
    expect(calls()).toBe(3);
    await asksAfter(2_000);
  });

  it('does not ask while nobody sees the page, and asks at once when somebody does', async () => {
    const { poller, calls, answer, fail, hide, asksAfter } = await polling();
    await fail('no');
    await hide(true);
    expect(vi.getTimerCount()).toBe(0);
    poller.now();
    await turns();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(calls()).toBe(1);
    await hide(false);
    expect(calls()).toBe(2);
    await fail('no');
    // It begins again with short waits.
    await asksAfter(3_000);
    await hide(true);
    await answer();
    expect(calls()).toBe(3);
    expect(vi.getTimerCount()).toBe(0);
    await hide(false);
    expect(calls()).toBe(4);
  });

  it('asks as soon as the network is back', async () => {
    const { calls, fail, goOnline } = await polling();
    await fail('no');
    await goOnline();
    expect(calls()).toBe(2);
  });
});
