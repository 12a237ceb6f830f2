/** Notices when messages stop. */

/** The longest time between signs of life. */
const PULSE_MS = 1_000;

/** @returns the time between signs of life: so short that each look finds a new one, even if one is late */
export function pulseWithin(silenceMs: number): number {
  return Math.min(PULSE_MS, silenceMs / 4);
}

/**
 * Calls `silent` when the count of messages has stood still for `silenceMs`, and then every half of `silenceMs`. It takes two
 * looks, because the first can be wrong when this process was suspended.
 * @param count how many messages have come so far
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
