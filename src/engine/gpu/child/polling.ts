/**
 * While any promise of Dawn's is pending it polls its queue through `globalThis.setImmediate`, which takes a whole core.
 * In this process the polls are timers instead, few and at the right time: each one wakes the processor, and that costs
 * more than the poll.
 */

/** Time between polls while it is not known when something will be done. */
const POLL_MS = 1;
/** Time between polls once something is overdue: a part of the time that it should take, and the most. */
const POLL_PART = 1 / 8;
const MOST_POLL_MS = 4;
/** Node's timers fire this much too early on average: they fire as a millisecond ends. */
const TIMER_EARLY_MS = 0.5;

let quietUntilMs = 0;
let expectedMs = 0;

/** Replaces `setImmediate`. To be called once Dawn is loaded, in a process that does nothing but mine with it. */
export function calmPolling(): void {
  const { setImmediate } = globalThis;
  const timer = (poll: (...args: unknown[]) => void, ...args: unknown[]) =>
    // Dawn asks for the next poll before whoever waited for this one has said what to expect next.
    setImmediate(() => setTimeout(poll, untilPollMs(quietUntilMs - performance.now(), expectedMs), ...args));
  globalThis.setImmediate = timer as unknown as typeof setImmediate;
}

/**
 * Nothing should be done before `ms` from now.
 * @param lengthMs what it should take in all
 */
export function expectIn(ms: number, lengthMs: number): void {
  quietUntilMs = performance.now() + ms;
  expectedMs = lengthMs;
}

/**
 * What the next poll's timer is set to, in milliseconds.
 * @param quietMs until something should be done; 0 or less once it is overdue
 * @param lengthMs what it should take in all; 0 when nobody knows
 */
export function untilPollMs(quietMs: number, lengthMs: number): number {
  if (quietMs > 0) return quietMs + TIMER_EARLY_MS;
  return Math.min(MOST_POLL_MS, Math.max(POLL_MS, POLL_PART * lengthMs));
}
