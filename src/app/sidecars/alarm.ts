/** `--min-hashrate` */

import type { Config } from '../../config/settings.ts';
import { type LeastRate, watchHashrate } from '../../notify/alarm.ts';
import { parseHashrate } from '../../text/quantities.ts';
import type { Companion } from '../run-miner.ts';

export async function alarm({ alarm: { minHashrate, after } }: Config): Promise<Companion | undefined> {
  if (minHashrate === undefined) return undefined;
  const least = minHashrate.map(parseLeastRate);
  return async (running) => watchHashrate(least, after * 1000, running);
}

/** @param text `20G`, or `gpu0=5G`, as the settings' check lets it through */
function parseLeastRate(text: string): LeastRate {
  const [rate, device] = text.split('=').reverse();
  return { ...(device !== undefined && { device }), limit: parseHashrate(rate)! };
}
