/** `--schedule`: pauses mining outside the schedule's windows. */

import type { Config } from '../../config/settings.ts';
import { keepSchedule } from '../../guards/schedule.ts';
import type { Sidecar } from '../run-miner.ts';

export async function schedule({ pause: { schedule: windows } }: Config): Promise<Sidecar | undefined> {
  if (windows === undefined) return undefined;
  return async (running) => keepSchedule(windows, running);
}
