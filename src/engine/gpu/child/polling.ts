/**
 * While any promise of Dawn's is pending it polls its queue through `globalThis.setImmediate`, which takes a whole core.
 * In this process the polls are timers instead, and none comes before a dispatch can be done.
 */

/** Between polls. Shorter costs CPU and gains nothing: two dispatches are in flight. */
const POLL_MS = 1;

let quietUntilMs = 0;

/** Replaces `setImmediate`. To be called once Dawn is loaded, in a process that does nothing but mine with it. */
export function calmPolling(): void {
  const timer = (callback: (...args: unknown[]) => void, ...args: unknown[]) =>
    setTimeout(callback, Math.max(POLL_MS, quietUntilMs - performance.now()), ...args);
  globalThis.setImmediate = timer as unknown as typeof setImmediate;
}

/** Nothing will be done before `ms` from now: polls wait until then. */
export function nothingFor(ms: number): void {
  quietUntilMs = performance.now() + ms;
}
