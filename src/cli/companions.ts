/** What runs beside the miner, as the settings ask for it. Each is loaded when it is wanted. */

import type { Config } from '../config/settings.ts';
import type { Companion } from './run-miner.ts';

/** Each loads and makes one companion, or gives undefined where the settings do not ask for it. */
const FACTORIES: readonly ((config: Config) => Promise<Companion | undefined>)[] = [
  async ({ http }) => {
    if (http.listen === undefined && http.tokenFile === undefined && !http.control) return undefined;
    return (await import('./companions/http.ts')).httpCompanion(http);
  },
];

/** @throws UsageError when a setting makes no sense. */
export async function companionsOf(config: Config): Promise<Companion[]> {
  const companions: Companion[] = [];
  for (const make of FACTORIES) {
    const companion = await make(config);
    if (companion) companions.push(companion);
  }
  return companions;
}
