/**
 * Helpers for abort signals. Each removes its listeners, because one signal may be used in thousands of calls.
 * `AbortSignal.any` is not used, because its listeners cannot be removed: on Node.js 20 a combined signal with a
 * listener stays in memory as long as the signals that it was made from.
 */

import { setMaxListeners } from 'node:events';

/**
 * Calls `action` once when the signal fires, or at once if it has already fired.
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
 * @returns a controller whose signal may have any number of listeners: by default, Node.js warns from the eleventh on
 */
export function sharedController(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}

/** Resolves when the signal fires. Never rejects. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    onAbort(signal, resolve);
  });
}

/** Longest delay of a Node.js timer, which fires at once if the delay is longer. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Waits until the time has passed or one of the signals fires. Never rejects. */
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
 * Runs `action` with a signal that fires after `timeoutMs` (reason: a `TimeoutError`), or with `stop` and its reason.
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

/** setTimeout for delays of any length. @returns a function that cancels the timer */
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
 * @returns whether the promise was resolved within this time
 * @throws the promise's error, if it is rejected within this time
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
