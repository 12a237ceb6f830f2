/** `--schedule` */

import type { Config } from '../../config/settings.ts';
import { keepSchedule } from '../../guards/schedule.ts';
import type { Companion } from '../run-miner.ts';

export async function schedule({ pause: { schedule: windows } }: Config): Promise<Companion | undefined> {
  if (windows === undefined) return undefined;
  return async (running) => keepSchedule(windows, running);
}
