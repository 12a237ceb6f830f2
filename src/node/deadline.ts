/** A time limit on anything that takes an abort signal. */

/**
 * Runs `action` with a signal that fires after `timeoutMs` (reason: a `TimeoutError`) or with `stop`.
 * Leaves nothing behind on `stop`, which may outlive thousands of these.
 */
export async function within<T>(
  timeoutMs: number,
  stop: AbortSignal,
  action: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const timeout = () => controller.abort(new DOMException(`no end within ${timeoutMs} ms`, 'TimeoutError'));
  const timer = setTimeout(timeout, timeoutMs);
  const onStop = () => controller.abort(stop.reason);
  if (stop.aborted) onStop();
  stop.addEventListener('abort', onStop, { once: true });
  try {
    return await action(controller.signal);
  } finally {
    clearTimeout(timer);
    stop.removeEventListener('abort', onStop);
  }
}

/** A Node.js timer's longest time. */
const LONGEST_MS = 2 ** 31 - 1;

/** Waits; comes back early, without an error, when one of the signals fires. */
export function pause(ms: number, ...stops: readonly AbortSignal[]): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      for (const stop of stops) stop.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, Math.min(ms, LONGEST_MS));
    for (const stop of stops) stop.addEventListener('abort', done, { once: true });
    if (stops.some(({ aborted }) => aborted)) done();
  });
}
