/** From settings to the temperatures between which devices rest. */

import type { Config } from '../config/settings.ts';
import type { TemperatureLimits } from '../mine/heat.ts';
import { UsageError } from './exit-codes.ts';

/** Between the two, unless told otherwise: enough that a device does not go on and off all the time. */
const COOL_BY_C = 10;

/**
 * @returns undefined where no device is to rest
 * @throws UsageError when the two make no sense together.
 */
export function limitsOf({ tempLimit: stopC, tempResume }: Config['devices']): TemperatureLimits | undefined {
  if (stopC === 'none') {
    if (tempResume !== undefined) throw new UsageError('--temp-resume needs a --temp-limit.');
    return undefined;
  }
  const resumeC = tempResume ?? stopC - COOL_BY_C;
  if (resumeC >= stopC) throw new UsageError(`--temp-resume (${resumeC}) must be below --temp-limit (${stopC}).`);
  return { stopC, resumeC };
}
