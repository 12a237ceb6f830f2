import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { aborted, onAbort, pause, sharedController, within } from '#pickaxe/base/system/abort.js';
import { systemClock } from '#pickaxe/base/system/clock.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const listenersOn = (...signals: readonly AbortSignal[]) =>
  signals.flatMap((signal) => getEventListeners(signal, 'abort'));

describe('onAbort', () => {
  it('acts once, when the signal fires', () => {
    const stop = new AbortController();
    const action = vi.fn();
    onAbort(stop.signal, action);
    expect(action).not.toHaveBeenCalled();
    stop.abort();
    stop.abort();
    expect(action).toHaveBeenCalledTimes(1);
  });

  it('acts at once if the signal has fired already', () => {
    const action = vi.fn();
    onAbort(AbortSignal.abort(), action)();
    expect(action).toHaveBeenCalledTimes(1);
  });

  it('does nothing after it was released, and leaves no listener on the signal', () => {
    const stop = new AbortController();
    const action = vi.fn();
    onAbort(stop.signal, action)();
    expect(listenersOn(stop.signal)).toHaveLength(0);
    stop.abort();
    expect(action).not.toHaveBeenCalled();
  });
});

describe('a signal that many wait for', () => {
  const waitingOn = async (signal: AbortSignal) => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const waits = Array.from({ length: 20 }, () => aborted(signal));
    const { calls } = warn.mock;
    warn.mockRestore();
    return { calls, waits };
  };

  it('causes no warning, as any other signal does', async () => {
    expect((await waitingOn(new AbortController().signal)).calls).toHaveLength(1);
    const shared = sharedController();
    const { calls, waits } = await waitingOn(shared.signal);
    expect(calls).toEqual([]);
    shared.abort();
    await Promise.all(waits);
  });

  it('is given by `within`', async () => {
    const { calls } = await within(systemClock, 1_000, new AbortController().signal, waitingOn);
    expect(calls).toEqual([]);
  });
});

describe('pause', () => {
  it('lasts for the given time, and leaves no listeners on its signals', async () => {
    const stops = [new AbortController().signal, new AbortController().signal];
    const paused = pause(systemClock, 1_000, ...stops);
    await vi.advanceTimersByTimeAsync(999);
    expect(listenersOn(...stops)).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(1);
    await paused;
    expect(listenersOn(...stops)).toHaveLength(0);
  });

  it('ends early with any of its signals, and leaves neither its timer nor its listeners', async () => {
    const [first, second] = [new AbortController(), new AbortController()];
    const paused = pause(systemClock, 1_000, first.signal, second.signal);
    second.abort();
    await paused;
    expect(vi.getTimerCount()).toBe(0);
    expect(listenersOn(first.signal)).toHaveLength(0);
  });

  it('returns at once when one of its signals has fired already', async () => {
    const { signal } = new AbortController();
    await pause(systemClock, 1_000, signal, AbortSignal.abort());
    expect(vi.getTimerCount()).toBe(0);
    expect(listenersOn(signal)).toHaveLength(0);
  });
});

describe('within', () => {
  /** Rejects with the signal's reason, as everything that takes a signal does. */
  const hang = (signal: AbortSignal) => new Promise<never>((_, reject) => onAbort(signal, () => reject(signal.reason)));

  it('ends an action that takes too long with a TimeoutError', async () => {
    const { signal } = new AbortController();
    const ended = expect(within(systemClock, 1_000, signal, hang)).rejects.toMatchObject({ name: 'TimeoutError' });
    await vi.advanceTimersByTimeAsync(1_000);
    await ended;
    expect(listenersOn(signal)).toHaveLength(0);
  });

  it('ends an action with the signal, and its reason', async () => {
    const stop = new AbortController();
    const ended = expect(within(systemClock, 1_000, stop.signal, hang)).rejects.toBe('enough');
    stop.abort('enough');
    await ended;
    await expect(within(systemClock, 1_000, stop.signal, hang)).rejects.toBe('enough');
    expect(vi.getTimerCount()).toBe(0);
  });

  it('returns what the action returns, and leaves nothing behind', async () => {
    const { signal } = new AbortController();
    expect(await within(systemClock, 1_000, signal, async () => 7)).toBe(7);
    expect(vi.getTimerCount()).toBe(0);
    expect(listenersOn(signal)).toHaveLength(0);
  });
});
