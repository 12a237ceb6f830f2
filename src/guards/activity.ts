/** Has all devices rest while somebody uses the machine. */

import { type Guarded, lookEvery, nowMs } from './guard.ts';
import type { IdleWatch } from './idle/watch.ts';

/** How long somebody who comes back waits at most for the machine to be theirs; asking costs a few milliseconds. */
const LOOK_MS = 5_000;

/**
 * @param afterMs nobody has used the machine for this long: mining goes on
 * @returns once it has looked, what ends it
 */
export function restWhileUsed(
  watches: readonly IdleWatch[],
  afterMs: number,
  { controls, clock, log }: Guarded,
): Promise<() => void> {
  const blind = new Set<string>();
  log.info(
    { tag: 'rest' },
    `whether somebody uses this machine: watching ${watches.map(({ name }) => name).join('; ')}`,
  );
  return lookEvery(LOOK_MS, async () => {
    const now = nowMs(clock);
    const idles = await Promise.all(
      watches.map(async ({ name, idleMs }) => {
        const idle = await idleMs(now);
        if (idle !== undefined) blind.delete(name);
        else if (!blind.has(name)) log.debug({ tag: 'rest' }, `nothing is known at the moment of ${name}`);
        if (idle === undefined) blind.add(name);
        return idle ?? Number.POSITIVE_INFINITY;
      }),
    );
    if (Math.min(...idles) >= afterMs) controls.resume('activity');
    else controls.pause('activity', `somebody uses the machine, or did less than ${afterMs / 1000} s ago`);
  });
}
