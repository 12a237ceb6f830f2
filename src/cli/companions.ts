/** What runs beside the miner, as the settings ask for it. Each is loaded when it is wanted. */

import type { LiveConfig } from './live-config.ts';
import type { Companion } from './run-miner.ts';

/** Each loads and makes one companion, or gives undefined where the settings do not ask for it. */
const FACTORIES: readonly ((live: LiveConfig) => Promise<Companion | undefined>)[] = [
  async (live) => {
    if (live.files.length === 0) return undefined;
    return (await import('./companions/reload.ts')).reload(live);
  },
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
