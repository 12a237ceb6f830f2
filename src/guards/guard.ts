/** What each guard is given: it watches one thing, and has all devices rest for one reason while that says so. */

import type { Logger } from 'pino';
import type { Clock } from '../clock.ts';
import type { Controls } from '../events/controls.ts';

export interface Guarded {
  readonly controls: Pick<Controls, 'pause' | 'resume'>;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Looks again and again, each time `everyMs` after the last look ended: one that hangs is not joined by others.
 * @returns once it has looked, what ends it
 */
export async function lookEvery(everyMs: number, look: () => Promise<void>): Promise<() => void> {
  let ended = false;
  let timer: NodeJS.Timeout | undefined;
  const lookAgain = async () => {
    await look();
    if (!ended) timer = setTimeout(lookAgain, everyMs);
  };
  await lookAgain();
  return () => {
    ended = true;
    clearTimeout(timer);
  };
}
