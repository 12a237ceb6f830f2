/** `--schedule` */

import type { Config } from '../../config/settings.ts';
import { keepSchedule } from '../../guards/schedule.ts';
import { parseWindows } from '../../text/schedule-windows.ts';
import type { Companion } from '../run-miner.ts';

export async function schedule({ pause }: Config): Promise<Companion | undefined> {
  if (pause.schedule === undefined) return undefined;
  const windows = parseWindows(pause.schedule);
  return async (running) => keepSchedule(windows, running);
}
