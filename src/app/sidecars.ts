/** What runs beside the miner, as the settings ask for it: one file each in `sidecars/`. */

import type { LiveConfig } from './live-config.ts';
import type { Companion } from './run-miner.ts';
import { activity } from './sidecars/activity.ts';
import { alarm } from './sidecars/alarm.ts';
import { battery } from './sidecars/battery.ts';
import { notices } from './sidecars/notices.ts';
import { renewing } from './sidecars/restart-on-change.ts';
import { schedule } from './sidecars/schedule.ts';
import { terminal } from './sidecars/terminal.ts';

/**
 * Started in this order, and ended in the other one. Each gives nothing where it is not asked for; what needs a library
 * is loaded only when it is.
 */
const FACTORIES: readonly ((live: LiveConfig) => Promise<Companion | undefined>)[] = [
  async (live) => (live.files.length > 0 ? (await import('./sidecars/reload.ts')).reload(live) : undefined),
  notices,
  (live) => renewing(live, ({ alarm }) => alarm, alarm),
  (live) => renewing(live, ({ pause }) => pause.onBattery, battery),
  (live) => renewing(live, ({ pause }) => pause.onActivity, activity),
  (live) => renewing(live, ({ pause }) => pause.schedule, schedule),
  async ({ config }) => terminal(config),
  async () => (process.env.NOTIFY_SOCKET ? (await import('./systemd/sidecar.ts')).systemd() : undefined),
  async ({ config: { http } }) =>
    http.listen === undefined ? undefined : (await import('./sidecars/http.ts')).httpCompanion(http),
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
