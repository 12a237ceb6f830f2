/** `--min-hashrate` */

import { type LeastRate, watchHashrate } from '../../notify/alarm.ts';
import { UsageError } from '../exit-codes.ts';
import type { Companion } from '../run-miner.ts';

export interface AlarmOptions {
  /** `20G` of the rig, `gpu0=5G` of a device. */
  readonly minHashrate?: readonly string[];
  /** Seconds below before it is an alarm. */
  readonly minHashrateAfter: number;
}

const PREFIXES = { '': 1, k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15 };

/** @throws UsageError when one makes no sense. */
export async function alarm({ minHashrate, minHashrateAfter }: AlarmOptions): Promise<Companion | undefined> {
  if (minHashrate === undefined || minHashrate.length === 0) return undefined;
  const least = minHashrate.map(parseLeastRate);
  for (const { device } of least) {
    if (least.filter((other) => other.device === device).length === 1) continue;
    throw new UsageError(`--min-hashrate is given twice for ${device ?? 'the rig'}.`);
  }
  return async (running) => watchHashrate(least, minHashrateAfter * 1000, running);
}

/** @throws UsageError */
export function parseLeastRate(text: string): LeastRate {
  const match = /^(?:(cpu|gpu\d{1,3})=)?(\d+(?:\.\d+)?) ?([kMGTP]?)(?:H\/s)?$/.exec(text.trim());
  const [, device, number, prefix] = match ?? [];
  const limit = Number(number) * PREFIXES[prefix as keyof typeof PREFIXES];
  if (!(limit > 0)) {
    throw new UsageError(`--min-hashrate: "${text}" is no hashrate above 0: write 800M, 20G or, of a device, gpu0=5G.`);
  }
  return { ...(device !== undefined && { device }), limit };
}
