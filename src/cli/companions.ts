/** What runs beside the miner, as the settings ask for it. Each is loaded when it is wanted. */

import type { LiveConfig } from './live-config.ts';
import type { Companion } from './run-miner.ts';

/** @throws UsageError when a setting makes no sense. */
export async function companionsOf(live: LiveConfig): Promise<Companion[]> {
  const companions: Companion[] = [];
  if (live.files.length > 0) companions.push((await import('./companions/reload.ts')).reload(live));
  if (process.env.NOTIFY_SOCKET) companions.push(await (await import('./systemd/companion.ts')).systemd());
  return companions;
}
