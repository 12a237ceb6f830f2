/** Notices that no messages come any more. */

/** The most time between signs of life. */
const PULSE_MS = 1_000;

/** Time between signs of life, so short that each look finds new ones even where one is late. */
export function pulseWithin(silenceMs: number): number {
  return Math.min(PULSE_MS, silenceMs / 4);
}

/**
 * Calls `silent` every half of `silenceMs` for as long as the count of messages has stood still for all of `silenceMs`. At
 * the second look only: the first can come of this process having slept.
 * @param count messages so far
 * @returns the timer, for `clearInterval`
 */
export function watchSilence(count: () => number, silenceMs: number, silent: () => void): NodeJS.Timeout {
  let seen = count();
  let strikes = 0;
  return setInterval(() => {
    strikes = seen === count() ? strikes + 1 : 0;
    seen = count();
    if (strikes >= 2) silent();
  }, silenceMs / 2);
}
