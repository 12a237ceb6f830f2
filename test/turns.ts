/** Waiting that needs no timer, so that a test can use it while the timers are its own. */

import { PATIENCE } from './patience.ts';

/** Lets the event loop turn. The default is enough for the updates, streams and messages of doubles to arrive. */
export async function turns(count = 8): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/**
 * Lets the event loop turn until a condition holds.
 * @throws Error when it does not hold after a minute
 */
export async function turnsUntil(holds: () => boolean): Promise<void> {
  const began = process.hrtime.bigint();
  while (!holds()) {
    if (Number(process.hrtime.bigint() - began) / 1e6 > PATIENCE.timeout) throw new Error('the condition never held');
    await turns(1);
  }
}

/** @returns whether a promise is settled by now, or as soon as everything has happened that waits for no timer */
export async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let hasEnded = false;
  const end = () => {
    hasEnded = true;
  };
  promise.then(end, end);
  await turns();
  return hasEnded;
}
