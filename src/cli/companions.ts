/** What runs beside the miner, as the options ask for it. Each is loaded when it is wanted. */

import type { HttpOptions } from './companions/http.ts';
import type { Companion } from './run-miner.ts';

export interface CompanionOptions extends HttpOptions {}

/** Each loads and makes one companion, or gives undefined where the options do not ask for it. */
const FACTORIES: readonly ((options: CompanionOptions) => Promise<Companion | undefined>)[] = [
  async (options) => {
    const { http, httpTokenFile, httpControl } = options;
    if (http === undefined && httpTokenFile === undefined && !httpControl) return undefined;
    return (await import('./companions/http.ts')).httpCompanion(options);
  },
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
