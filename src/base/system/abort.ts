/**
 * Helpers for abort signals. One signal may be used in thousands of calls of `pause` and `within`, so each call removes
 * its listener when it ends. `AbortSignal.any` is not used: on Node.js 20, a combined signal with a listener stays in
 * memory as long as the signals that were combined.
 */

import { setMaxListeners } from 'node:events';
import { type Clock, LONGEST_TIMER_MS, type Timer } from './clock.ts';

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

/** A signal that never fires. */
export const NEVER: AbortSignal = sharedController().signal;

/** @returns a promise that is resolved when the signal fires, and never rejected */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    onAbort(signal, resolve);
  });
}

/**
 * Waits until `ms`, at most `LONGEST_TIMER_MS`, have passed, or one of the signals fires. The returned promise is never
 * rejected.
 */
export function pause(clock: Clock, ms: number, ...stops: readonly AbortSignal[]): Promise<void> {
  if (stops.some(({ aborted }) => aborted)) return Promise.resolve();
  return new Promise((resolve) => {
    const end = () => {
      timer.cancel();
      for (const release of releases) release();
      resolve();
    };
    const timer = clock.setTimeout(end, ms);
    const releases = stops.map((stop) => onAbort(stop, end));
  });
}

/**
 * Runs `action` with a signal, and waits until `action` ends. The signal fires after `timeoutMs`, at most
 * `LONGEST_TIMER_MS`, with a `TimeoutError` as its reason. If `stop` fires earlier, the signal fires with the reason of
 * `stop`.
 */
export async function within<T>(
  clock: Clock,
  timeoutMs: number,
  stop: AbortSignal,
  action: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = sharedController();
  const timeout = () => controller.abort(new DOMException(`no end within ${timeoutMs} ms`, 'TimeoutError'));
  const timer = clock.setTimeout(timeout, timeoutMs);
  const release = onAbort(stop, () => controller.abort(stop.reason));
  try {
    return await action(controller.signal);
  } finally {
    timer.cancel();
    release();
  }
}

/** Like `setTimeout`, but for delays of any length. @returns a function that cancels the timer */
export function setLongTimeout(clock: Clock, act: () => void, ms: number): () => void {
  let timer: Timer;
  const wait = (restMs: number) => {
    timer =
      restMs > LONGEST_TIMER_MS
        ? clock.setTimeout(() => wait(restMs - LONGEST_TIMER_MS), LONGEST_TIMER_MS)
        : clock.setTimeout(act, restMs);
  };
  wait(ms);
  return () => timer.cancel();
}

/**
 * @returns whether the promise was fulfilled within `ms`
 * @throws the error of the promise, if the promise is rejected within `ms`
 */
export async function settledWithin(clock: Clock, promise: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: Timer | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = clock.setTimeout(() => resolve(false), ms);
  });
  try {
    return await Promise.race([promise.then(() => true), late]);
  } finally {
    timer?.cancel();
  }
}
