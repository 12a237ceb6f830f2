/** Pauses all devices while somebody uses the machine. */

import { wallMs } from '../system/clock.ts';
import { type Guarded, keepLooking, type Observation } from './guard.ts';
import type { IdleWatch } from './idle/watch.ts';

/** The longest time until mining pauses for a person who comes back. A look costs a few milliseconds. */
const LOOK_MS = 5_000;

/**
 * @param afterMs mining resumes when nobody has used the machine for this long
 * @returns a function that ends the guard; settles after the first look
 */
export function pauseWhileUsed(watches: readonly IdleWatch[], afterMs: number, guarded: Guarded): Promise<() => void> {
  const { clock, log } = guarded;
  /** The watches that gave no answer at the last look. */
  const blind = new Set(watches);
  log.info({ tag: 'pause' }, `activity on this machine: watching ${watches.map(({ name }) => name).join('; ')}`);
  const look = async (): Promise<Observation> => {
    const now = wallMs(clock);
    const asked = await Promise.all(
      watches.map(async (watch) => {
        const idleMs = await watch.idleMs(now);
        if (idleMs !== undefined) blind.delete(watch);
        else if (!blind.has(watch)) log.warn({ tag: 'pause' }, `${watch.name}: activity can no longer be seen`);
        if (idleMs === undefined) blind.add(watch);
        return idleMs;
      }),
    );
    const idles = asked.filter((idleMs) => idleMs !== undefined);
    if (idles.length === 0) return 'unknown';
    if (Math.min(...idles) >= afterMs) return 'go on';
    return { pause: `somebody used the machine less than ${afterMs / 1000} s ago` };
  };
  return keepLooking('activity', LOOK_MS, look, guarded);
}
