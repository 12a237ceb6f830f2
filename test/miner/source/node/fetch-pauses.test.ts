import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { FetchImpatience, WakeSignal } from '#pickaxe/miner/source/node/fetch-pauses.js';

const limits = { burstMs: 100, hurryMs: 1_000 };
const clock = { ...systemClock, nowUs: () => 0n, monotonicMs: () => performance.now() };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Whether a promise has settled after everything that is due has happened. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  promise.then(
    () => {
      settled = true;
    },
    () => {
      settled = true;
    },
  );
  await vi.advanceTimersByTimeAsync(0);
  return settled;
}

describe('a pause', () => {
  it('lasts as long as it is told to', async () => {
    const pause = new FetchImpatience(clock, limits).pause(60_000, new AbortController().signal);
    await vi.advanceTimersByTimeAsync(59_999);
    expect(await isSettled(pause)).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(await isSettled(pause)).toBe(true);
  });

  it('ends with a sign of life, and with stop', async () => {
    const impatience = new FetchImpatience(clock, limits);
    const [hurried, stopped] = [new AbortController(), new AbortController()];
    const pauses = [impatience.pause(60_000, hurried.signal), impatience.pause(60_000, stopped.signal, () => false)];
    stopped.abort();
    expect(await isSettled(pauses[1])).toBe(true);
    expect(await isSettled(pauses[0])).toBe(false);
    impatience.signOfLife();
    expect(await isSettled(pauses[0])).toBe(true);
  });

  it('goes on when a sign of life does not matter', async () => {
    const impatience = new FetchImpatience(clock, limits);
    const pause = impatience.pause(60_000, new AbortController().signal, () => false);
    impatience.signOfLife();
    expect(await isSettled(pause)).toBe(false);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await isSettled(pause)).toBe(true);
  });

  it('is ended once by a burst’s further signs, at the end of the burst', async () => {
    const impatience = new FetchImpatience(clock, limits);
    const { signal } = new AbortController();
    impatience.signOfLife();
    const pause = impatience.pause(60_000, signal);
    for (let i = 0; i < 9; i++) {
      await vi.advanceTimersByTimeAsync(10);
      impatience.signOfLife();
    }
    expect(await isSettled(pause)).toBe(false);
    await vi.advanceTimersByTimeAsync(11);
    expect(await isSettled(pause)).toBe(true);
    const next = impatience.pause(60_000, signal);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await isSettled(next)).toBe(false);
    // The next burst is like the first.
    impatience.signOfLife();
    const later = impatience.pause(60_000, signal);
    impatience.signOfLife();
    await vi.advanceTimersByTimeAsync(limits.burstMs);
    expect(await isSettled(later)).toBe(true);
  });

  it('ends with letGo, even when a sign of life does not matter', async () => {
    const impatience = new FetchImpatience(clock, limits);
    const pause = impatience.pause(60_000, new AbortController().signal, () => false);
    impatience.letGo();
    expect(await isSettled(pause)).toBe(true);
  });
});

describe('a fetch', () => {
  /** Never answers, like a request to a node that is frozen. */
  const hanging = (stop: AbortSignal) =>
    new Promise<void>((_, reject) => stop.addEventListener('abort', () => reject(new Error('aborted'))));

  it('that hangs is canceled some time after a sign of life', async () => {
    const impatience = new FetchImpatience(clock, limits);
    const fetch = impatience.hurried(new AbortController().signal, hanging);
    await vi.advanceTimersByTimeAsync(5_000);
    impatience.signOfLife();
    await vi.advanceTimersByTimeAsync(limits.hurryMs - 1);
    expect(await isSettled(fetch)).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(await fetch).toBe(false);
  });

  it('that is canceled and ends without an error counts as canceled', async () => {
    const impatience = new FetchImpatience(clock, limits);
    const deaf = (stop: AbortSignal) => new Promise<void>((resolve) => stop.addEventListener('abort', () => resolve()));
    const fetch = impatience.hurried(new AbortController().signal, deaf);
    impatience.letGo();
    expect(await fetch).toBe(false);
  });

  it('that begins after a sign of life is not canceled because of it', async () => {
    const impatience = new FetchImpatience(clock, limits);
    const { signal } = new AbortController();
    await impatience.hurried(signal, async () => {});
    impatience.signOfLife();
    const next = impatience.hurried(signal, hanging);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await isSettled(next)).toBe(false);
  });

  it.each([
    [0, true],
    [1, false],
  ])(
    'that began within a burst is limited by a sign that comes %d ms before the end of the burst: %s',
    async (leftMs, isLimited) => {
      const impatience = new FetchImpatience(clock, limits);
      impatience.signOfLife();
      const stop = new AbortController();
      const fetch = impatience.hurried(stop.signal, hanging);
      await vi.advanceTimersByTimeAsync(limits.burstMs - leftMs);
      impatience.signOfLife();
      await vi.advanceTimersByTimeAsync(limits.hurryMs);
      expect(await isSettled(fetch)).toBe(isLimited);
      stop.abort();
      await fetch.catch(() => {});
      expect(getEventListeners(stop.signal, 'abort')).toHaveLength(0);
    },
  );

  it('is canceled at once by letGo', async () => {
    const impatience = new FetchImpatience(clock, limits);
    const fetch = impatience.hurried(new AbortController().signal, hanging);
    impatience.letGo();
    expect(await fetch).toBe(false);
  });

  it('that ends in time is left alone, and so is the next one', async () => {
    const impatience = new FetchImpatience(clock, limits);
    const { signal } = new AbortController();
    const first = impatience.hurried(signal, () => new Promise((resolve) => setTimeout(resolve, 500)));
    impatience.signOfLife();
    await vi.advanceTimersByTimeAsync(limits.burstMs);
    impatience.signOfLife();
    await vi.advanceTimersByTimeAsync(400);
    expect(await first).toBe(true);
    const next = impatience.hurried(signal, hanging);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await isSettled(next)).toBe(false);
  });

  it('fails with its own error, and with that of stop', async () => {
    const impatience = new FetchImpatience(clock, limits);
    const stop = new AbortController();
    await expect(impatience.hurried(stop.signal, () => Promise.reject(new Error('its own')))).rejects.toThrow(
      'its own',
    );
    const stopped = impatience.hurried(stop.signal, hanging);
    stop.abort();
    await expect(stopped).rejects.toThrow('aborted');
  });
});

describe('fetches of a slow node', () => {
  const letGoAfter = async (impatience: FetchImpatience, ms: number) => {
    const hanging = (stop: AbortSignal) =>
      new Promise<void>((_, reject) => stop.addEventListener('abort', () => reject(new Error('aborted'))));
    const fetch = impatience.hurried(new AbortController().signal, hanging);
    await vi.advanceTimersByTimeAsync(limits.burstMs);
    impatience.signOfLife();
    await vi.advanceTimersByTimeAsync(ms - 1);
    expect(await isSettled(fetch)).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(await fetch).toBe(false);
  };

  it('get more time each time that one was canceled, until one has ended', async () => {
    const impatience = new FetchImpatience(clock, limits);
    for (const times of [1, 2, 4, 8]) await letGoAfter(impatience, times * limits.hurryMs);
    expect(await impatience.hurried(new AbortController().signal, async () => {})).toBe(true);
    await letGoAfter(impatience, limits.hurryMs);
  });

  it('are not canceled by the rest of the burst that started them', async () => {
    const impatience = new FetchImpatience(clock, limits);
    impatience.signOfLife();
    let end = () => {};
    const fetch = impatience.hurried(new AbortController().signal, () => new Promise((resolve) => (end = resolve)));
    impatience.signOfLife();
    await vi.advanceTimersByTimeAsync(60_000);
    end();
    expect(await fetch).toBe(true);
  });
});

describe('WakeSignal', () => {
  it('lets any number of solutions wait for it, without a warning', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const wake = new WakeSignal(systemClock);
    for (let round = 0; round < 2; round++) {
      const waits = Array.from({ length: 20 }, () => wake.wait(1_000_000, new AbortController().signal));
      wake.ring();
      await Promise.all(waits);
    }
    expect(warn.mock.calls).toEqual([]);
    warn.mockRestore();
  });
});
