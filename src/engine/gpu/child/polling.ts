/**
 * While any promise of Dawn's is pending it polls its queue through `globalThis.setImmediate`, which takes a whole core.
 * In this process the polls are timers instead, few and at the right time: each one wakes the processor, and that costs
 * more than the poll.
 */

/** Between polls while nothing is known of when something will be done. */
const POLL_MS = 1;
/** Between polls once it is overdue: the part of what it should take, and at most. */
const POLL_PART = 1 / 8;
const MOST_POLL_MS = 4;
/** Timers go off as a millisecond ends: on average, so much before their time. */
const TIMER_EARLY_MS = 0.5;

let quietUntilMs = 0;
let pollMs = POLL_MS;

/** Replaces `setImmediate`. To be called once Dawn is loaded, in a process that does nothing but mine with it. */
export function calmPolling(): void {
  const { setImmediate } = globalThis;
  const timer = (poll: (...args: unknown[]) => void, ...args: unknown[]) =>
    // Dawn asks for the next poll before whoever waited for this one has said what to expect next.
    setImmediate(() => {
      const quietMs = quietUntilMs - performance.now();
      setTimeout(poll, quietMs > 0 ? quietMs + TIMER_EARLY_MS : pollMs, ...args);
    });
  globalThis.setImmediate = timer as unknown as typeof setImmediate;
}

/**
 * Nothing should be done before `ms` from now.
 * @param lengthMs what it should take in all
 */
export function expectIn(ms: number, lengthMs: number): void {
  quietUntilMs = performance.now() + ms;
  pollMs = Math.min(MOST_POLL_MS, Math.max(POLL_MS, POLL_PART * lengthMs));
}
