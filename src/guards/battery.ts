/** Pauses all devices while the machine runs on battery. */

import { type Guarded, keepLooking } from './guard.ts';
import type { Power } from './power.ts';

/** Often enough for a battery, and rare enough to cost nothing. */
const LOOK_MS = 10_000;

/**
 * While the power supply cannot be read, devices stay paused or running as they are.
 * @returns a function that ends the guard; settles after the first look
 */
export function pauseOnBattery(readPower: () => Promise<Power>, guarded: Guarded): Promise<() => void> {
  const { log } = guarded;
  let known: Power | 'unknown' | undefined;
  const look = async () => {
    const power = await readPower().catch((fault: Error) => {
      if (known !== 'unknown')
        log.warn({ tag: 'pause' }, `cannot tell whether this machine runs on battery: ${fault.message}`);
      return 'unknown' as const;
    });
    if (power === 'no battery' && known !== power) log.info({ tag: 'pause' }, 'this machine has no battery');
    known = power;
    if (power === 'battery') return { pause: 'the machine runs on battery' };
    return power === 'unknown' ? power : 'go on';
  };
  return keepLooking('battery', LOOK_MS, look, guarded);
}
