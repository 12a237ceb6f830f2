/** What runs beside the miner, as the settings ask for it: a file each in `companions/`. */

import type { Config } from '../config/settings.ts';
import { activity } from './companions/activity.ts';
import { alarm } from './companions/alarm.ts';
import { battery } from './companions/battery.ts';
import { notices } from './companions/notices.ts';
import { schedule } from './companions/schedule.ts';
import type { LiveConfig } from './live-config.ts';
import type { Companion } from './run-miner.ts';

/** Started in this order, and ended in the other one. Each gives nothing where it is not asked for. */
const FACTORIES: readonly ((config: Config) => Promise<Companion | undefined>)[] = [
  notices,
  alarm,
  battery,
  activity,
  schedule,
];

/** @throws UsageError when a setting makes no sense. */
export async function companionsOf(live: LiveConfig): Promise<Companion[]> {
  const companions: Companion[] = [];
  if (live.files.length > 0) companions.push((await import('./companions/reload.ts')).reload(live));
  for (const make of FACTORIES) {
    const companion = await make(live.config);
    if (companion) companions.push(companion);
  }
  return companions;
}
