/** What runs beside the miner, as the options ask for it: a file each in `companions/`. */

import { type ActivityOptions, activity } from './companions/activity.ts';
import { type AlarmOptions, alarm } from './companions/alarm.ts';
import { type BatteryOptions, battery } from './companions/battery.ts';
import { type NoticeOptions, notices } from './companions/notices.ts';
import { type ScheduleOptions, schedule } from './companions/schedule.ts';
import type { Companion } from './run-miner.ts';

export interface CompanionOptions
  extends NoticeOptions,
    AlarmOptions,
    BatteryOptions,
    ActivityOptions,
    ScheduleOptions {}

/** Started in this order, and ended in the other one. Each gives nothing when it was not asked for. */
const FACTORIES: readonly ((options: CompanionOptions) => Promise<Companion | undefined>)[] = [
  notices,
  alarm,
  battery,
  activity,
  schedule,
];

/** @throws UsageError when an option makes no sense. */
export async function companionsOf(options: CompanionOptions): Promise<Companion[]> {
  const companions: Companion[] = [];
  for (const make of FACTORIES) {
    const companion = await make(options);
    if (companion) companions.push(companion);
  }
  return companions;
}
