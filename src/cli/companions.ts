/** What runs beside the miner, as the settings ask for it. Each is loaded when it is wanted. */

import type { Config } from '../config/settings.ts';
import type { Companion } from './run-miner.ts';

/** @throws UsageError when a setting makes no sense. */
export async function companionsOf(_config: Config): Promise<Companion[]> {
  return [];
}
