/**
 * Makes Dawn poll less. While any of its promises is pending, Dawn polls its queue through `globalThis.setImmediate`, which
 * keeps a whole core busy. In this process timers poll instead, rarely and at the right time: waking the processor costs
 * more than the poll itself.
 */

/** Time between polls while it is not known when a dispatch will end. */
const POLL_MS = 1;
/** Time between polls once a dispatch is overdue, as a fraction of its forecast time, and the longest such time. */
const POLL_PART = 1 / 8;
const MOST_POLL_MS = 4;
/** Node.js's timers fire this much too early on average, because they count whole milliseconds. */
const TIMER_EARLY_MS = 0.5;

let quietUntilMs = 0;
let expectedMs = 0;

/** Replaces `setImmediate`. Call it once Dawn is loaded, in a process that only mines with Dawn. */
export function calmPolling(): void {
  const { setImmediate } = globalThis;
  const timer = (poll: (...args: unknown[]) => void, ...args: unknown[]) =>
    // Dawn asks for the next poll before the code that waits for this one has called `expectIn`, hence the setImmediate.
    setImmediate(() => setTimeout(poll, untilPollMs(quietUntilMs - performance.now(), expectedMs), ...args));
  globalThis.setImmediate = timer as unknown as typeof setImmediate;
}

/**
 * Tells the polling that no dispatch should end in the next `ms`.
 * @param lengthMs how long the dispatch should take in all
 */
export function expectIn(ms: number, lengthMs: number): void {
  quietUntilMs = performance.now() + ms;
  expectedMs = lengthMs;
}

/**
 * @param quietMs time until a dispatch should end; 0 or less once it is overdue
 * @param lengthMs how long the dispatch should take in all; 0 when that is not known
 * @returns milliseconds for the next poll's timer
 */
export function untilPollMs(quietMs: number, lengthMs: number): number {
  if (quietMs > 0) return quietMs + TIMER_EARLY_MS;
  return Math.min(MOST_POLL_MS, Math.max(POLL_MS, POLL_PART * lengthMs));
}
