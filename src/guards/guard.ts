/** A guard looks at one thing again and again, and pauses all devices for one reason while that thing requires it. */

import type { PauseReason } from '../events/controls.ts';
import type { RunningMiner } from '../report/running-miner.ts';

/** The parts of a running miner that a guard uses. */
export type Guarded = Pick<RunningMiner, 'controls' | 'clock' | 'log'>;

/** The result of a look: why to pause, no reason to pause, or no result. With `unknown` everything stays as it is. */
export type Observation = { readonly pause: string } | 'go on' | 'unknown';

/**
 * Looks again and again. Each look begins `everyMs` after the previous one has ended, so that looks never pile up.
 * @returns a function that ends the guard and resumes the devices; settles after the first look
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
    else if (found !== 'unknown') controls.pause(reason, found.pause);
    timer = setTimeout(lookAgain, everyMs);
  };
  await lookAgain();
  return () => {
    ended = true;
    clearTimeout(timer);
    controls.resume(reason);
  };
}
