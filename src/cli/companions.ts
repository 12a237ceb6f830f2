/** What runs beside the miner, as the settings ask for it. Each is loaded when it is wanted. */

import type { Config } from '../config/settings.ts';
import type { Companion } from './run-miner.ts';

/** Each makes a companion, or none where nothing asks for it. */
const FACTORIES: readonly ((config: Config) => Promise<Companion | undefined>)[] = [
  async (config) => (await import('./companions/terminal.ts')).terminal(config),
];

/** @throws UsageError when a setting makes no sense. */
export async function companionsOf(config: Config): Promise<Companion[]> {
  const companions = await Promise.all(FACTORIES.map((make) => make(config)));
  return companions.filter((companion) => companion !== undefined);
}
