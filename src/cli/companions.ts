/** What runs beside the miner, as the settings ask for it: a file each in `companions/`. */

import { activity } from './companions/activity.ts';
import { alarm } from './companions/alarm.ts';
import { battery } from './companions/battery.ts';
import { notices } from './companions/notices.ts';
import { renewing } from './companions/renewing.ts';
import { schedule } from './companions/schedule.ts';
import { terminal } from './companions/terminal.ts';
import type { LiveConfig } from './live-config.ts';
import type { Companion } from './run-miner.ts';

/**
 * Started in this order, and ended in the other one. Each gives nothing where it is not asked for; what needs a library
 * is loaded only when it is.
 */
const FACTORIES: readonly ((live: LiveConfig) => Promise<Companion | undefined>)[] = [
  async (live) => (live.files.length > 0 ? (await import('./companions/reload.ts')).reload(live) : undefined),
  notices,
  (live) => renewing(live, ({ alarm }) => alarm, alarm),
  (live) => renewing(live, ({ pause }) => pause.onBattery, battery),
  (live) => renewing(live, ({ pause }) => pause.onActivity, activity),
  (live) => renewing(live, ({ pause }) => pause.schedule, schedule),
  async ({ config }) => terminal(config),
  async () => (process.env.NOTIFY_SOCKET ? (await import('./systemd/companion.ts')).systemd() : undefined),
  async ({ config: { http } }) =>
    http.listen === undefined ? undefined : (await import('./companions/http.ts')).httpCompanion(http),
];

/** @throws UsageError when one cannot do here what it is asked for. */
export async function companionsOf(live: LiveConfig): Promise<Companion[]> {
  const companions: Companion[] = [];
  for (const make of FACTORIES) {
    const companion = await make(live);
    if (companion) companions.push(companion);
  }
  return companions;
}
