/** `--min-hashrate`: raises an alarm while the hashrate is too low. */

import type { Config } from '../../config/settings.ts';
import { watchHashrate } from '../../notify/alarm.ts';
import type { Sidecar } from '../run-miner.ts';

export async function alarm({ alarm: { minHashrate, after } }: Config): Promise<Sidecar | undefined> {
  if (minHashrate === undefined) return undefined;
  return async (running) => watchHashrate(minHashrate, after * 1000, running);
}
