/** `--schedule` */

import { keepSchedule } from '../../guards/schedule.ts';
import { parseWindows } from '../../guards/windows.ts';
import { UsageError } from '../exit-codes.ts';
import type { Companion } from '../run-miner.ts';

export interface ScheduleOptions {
  /** Mining only within these windows, all of them together. */
  readonly schedule?: readonly string[];
}

/** @throws UsageError when one makes no sense. */
export async function schedule({ schedule: texts }: ScheduleOptions): Promise<Companion | undefined> {
  if (texts === undefined || texts.length === 0) return undefined;
  const windows = texts.flatMap(windowsOf);
  return async (running) => keepSchedule(windows, running);
}

function windowsOf(text: string) {
  try {
    return parseWindows(text);
  } catch (fault) {
    throw fault instanceof RangeError ? new UsageError(`--schedule: ${fault.message}.`) : fault;
  }
}
