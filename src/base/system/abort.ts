/**
 * Helpers for abort signals. One signal may be used in thousands of calls of `pause` and `within`, so each call removes
 * its listener when it ends. `AbortSignal.any` is not used: on Node.js 20, a combined signal with a listener stays in
 * memory as long as the signals that were combined.
 */

import { setMaxListeners } from 'node:events';

/**
 * Calls `action` when the signal fires, or immediately if the signal has fired already. `action` is called only once.
 * @returns a function that removes the listener
 */
export function onAbort(signal: AbortSignal, action: () => void): () => void {
  if (signal.aborted) {
    action();
    return () => {};
  }
  const listener = () => action();
  signal.addEventListener('abort', listener, { once: true });
  return () => signal.removeEventListener('abort', listener);
}

/**
 * @returns a controller whose signal may have any number of listeners. By default, Node.js warns of more than ten
 */
export function sharedController(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}

/** @returns a promise that is resolved when the signal fires, and never rejected */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    onAbort(signal, resolve);
  });
}

/** Maximum delay of a Node.js timer, in ms. A timer with a longer delay would fire after 1 ms. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * Waits until `ms`, at most `LONGEST_TIMER_MS`, have passed, or one of the signals fires. The returned promise is never
 * rejected.
 */
export function pause(ms: number, ...stops: readonly AbortSignal[]): Promise<void> {
  if (stops.some(({ aborted }) => aborted)) return Promise.resolve();
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      for (const release of releases) release();
      resolve();
    };
    const timer = setTimeout(end, Math.min(ms, LONGEST_TIMER_MS));
    const releases = stops.map((stop) => onAbort(stop, end));
  });
}

/**
 * Runs `action` with a signal, and waits until `action` ends. The signal fires after `timeoutMs`, at most
 * `LONGEST_TIMER_MS`, with a `TimeoutError` as its reason. If `stop` fires earlier, the signal fires with the reason of
 * `stop`.
 */
export async function within<T>(
  timeoutMs: number,
  stop: AbortSignal,
  action: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = sharedController();
  const timeout = () => controller.abort(new DOMException(`no end within ${timeoutMs} ms`, 'TimeoutError'));
  const timer = setTimeout(timeout, Math.min(timeoutMs, LONGEST_TIMER_MS));
  const release = onAbort(stop, () => controller.abort(stop.reason));
  try {
    return await action(controller.signal);
  } finally {
    clearTimeout(timer);
    release();
  }
}

/** Like `setTimeout`, but for delays of any length. @returns a function that cancels the timer */
export function setLongTimeout(act: () => void, ms: number): () => void {
  let timer: NodeJS.Timeout;
  const wait = (restMs: number) => {
    timer =
      restMs > LONGEST_TIMER_MS
        ? setTimeout(() => wait(restMs - LONGEST_TIMER_MS), LONGEST_TIMER_MS)
        : setTimeout(act, restMs);
  };
  wait(ms);
  return () => clearTimeout(timer);
}

/**
 * @returns whether the promise was fulfilled within `ms`
 * @throws the error of the promise, if the promise is rejected within `ms`
 */
export async function settledWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, ms, false);
  });
  try {
    return await Promise.race([promise.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}
