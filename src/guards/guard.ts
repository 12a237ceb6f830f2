/** A guard watches one thing, and pauses all devices for one reason while that thing says so. */

import type { PauseReason } from '../events/controls.ts';
import type { RunningMiner } from '../report/running-miner.ts';

/** What a guard needs of the miner that it guards. */
export type Guarded = Pick<RunningMiner, 'controls' | 'clock' | 'log'>;

/** What a look shows: why to pause, no reason to, or nothing at all, in which case everything stays as it is. */
export type Observation = { readonly rest: string } | 'go on' | 'unknown';

/**
 * Looks again and again, each time `everyMs` after the last look ended: looks never pile up behind one that hangs.
 * @returns once it has looked, a function that ends it and resumes the devices
 */
export async function keepLooking(
  reason: PauseReason,
  everyMs: number,
  look: () => Promise<Observation>,
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
