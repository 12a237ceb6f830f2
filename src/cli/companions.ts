/** What runs beside the miner, as the settings ask for it: a file each in `companions/`. */

import { activity } from './companions/activity.ts';
import { alarm } from './companions/alarm.ts';
import { battery } from './companions/battery.ts';
import { notices } from './companions/notices.ts';
import { schedule } from './companions/schedule.ts';
import type { LiveConfig } from './live-config.ts';
import type { Companion } from './run-miner.ts';

/**
 * Started in this order, and ended in the other one. Each gives nothing where it is not asked for; what needs a library
 * is loaded only when it is.
 */
const FACTORIES: readonly ((live: LiveConfig) => Promise<Companion | undefined>)[] = [
  async (live) => (live.files.length > 0 ? (await import('./companions/reload.ts')).reload(live) : undefined),
  async ({ config }) => notices(config),
  async ({ config }) => alarm(config),
  async ({ config }) => battery(config),
  async ({ config }) => activity(config),
  async ({ config }) => schedule(config),
  async () => (process.env.NOTIFY_SOCKET ? (await import('./systemd/companion.ts')).systemd() : undefined),
  async ({ config: { http } }) => {
    if (http.listen === undefined && http.tokenFile === undefined && !http.control) return undefined;
    return (await import('./companions/http.ts')).httpCompanion(http);
  },
];

/** @throws UsageError when a setting makes no sense. */
export async function companionsOf(live: LiveConfig): Promise<Companion[]> {
  const companions: Companion[] = [];
  for (const make of FACTORIES) {
    const companion = await make(live);
    if (companion) companions.push(companion);
  }
  return companions;
}
