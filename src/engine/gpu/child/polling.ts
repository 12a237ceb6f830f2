/**
 * While any promise of Dawn's is pending it polls its queue through `globalThis.setImmediate`, which takes a whole core.
 * In this process the polls are timers instead, few and at the right time: each one wakes the processor.
 */

/** Between polls while nothing is known of when something will be done. */
const POLL_MS = 1;
/** Between polls once it is due: the part of what it should take, and at most. Two dispatches are in flight meanwhile. */
const POLL_PART = 1 / 3;
const MOST_POLL_MS = 4;
/**
 * Of the time that a dispatch should take, what passes before it is looked for. What is done earlier seems to have taken
 * so long: a rate that was measured too low is put right by and by, and the second dispatch bridges the difference.
 */
const QUIET_PART = 0.85;

let quietUntilMs = 0;
let pollMs = POLL_MS;

/** Replaces `setImmediate`. To be called once Dawn is loaded, in a process that does nothing but mine with it. */
export function calmPolling(): void {
  const timer = (callback: (...args: unknown[]) => void, ...args: unknown[]) =>
    setTimeout(callback, Math.max(pollMs, quietUntilMs - performance.now()), ...args);
  globalThis.setImmediate = timer as unknown as typeof setImmediate;
}

/**
 * The next dispatch to be done should be so in `ms` from now.
 * @param lengthMs what it should take in all
 */
export function expectIn(ms: number, lengthMs: number): void {
  quietUntilMs = performance.now() + ms - (1 - QUIET_PART) * lengthMs;
  pollMs = Math.min(MOST_POLL_MS, Math.max(POLL_MS, POLL_PART * lengthMs));
}
