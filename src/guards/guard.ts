/** What each guard is given: it watches one thing, and has all devices rest for one reason while that says so. */

import type { Logger } from 'pino';
import type { Controls, PauseReason } from '../events/controls.ts';
import type { Clock } from '../system/clock.ts';

export interface Guarded {
  readonly controls: Pick<Controls, 'pause' | 'resume'>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** What a look finds: why to rest, nothing to rest for, or nothing at all, so that everything stays as it is. */
export type Finding = { readonly rest: string } | 'go on' | 'unknown';

/**
 * Looks again and again, each time `everyMs` after the last look ended: one that hangs is not joined by others.
 * @returns once it has looked, what ends it: nothing rests for this reason any more
 */
export async function keepLooking(
  reason: PauseReason,
  everyMs: number,
  look: () => Promise<Finding>,
  { controls }: Guarded,
): Promise<() => void> {
  let ended = false;
  let timer: NodeJS.Timeout | undefined;
  const lookAgain = async () => {
    const found = await look();
    if (ended) return;
    if (found === 'go on') controls.resume(reason);
    else if (found !== 'unknown') controls.pause(reason, found.rest);
    timer = setTimeout(lookAgain, everyMs);
  };
  await lookAgain();
  return () => {
    ended = true;
    clearTimeout(timer);
    controls.resume(reason);
  };
}
