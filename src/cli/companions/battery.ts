/** `--pause-on-battery` */

import { restOnBattery } from '../../guards/battery.ts';
import { powerReader } from '../../guards/power.ts';
import { UsageError } from '../exit-codes.ts';
import type { Companion } from '../run-miner.ts';

export interface BatteryOptions {
  readonly pauseOnBattery: boolean;
}

/** @throws UsageError where pickaxe does not know how to ask. */
export async function battery({ pauseOnBattery }: BatteryOptions): Promise<Companion | undefined> {
  if (!pauseOnBattery) return undefined;
  const readPower = powerReader();
  if (!readPower) throw new UsageError('--pause-on-battery works on Linux and macOS only.');
  return (running) => restOnBattery(readPower, running);
}
