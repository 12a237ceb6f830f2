/** `--pause-on-battery`: pauses mining while the machine runs on battery. */

import type { Config } from '../../config/settings.ts';
import { pauseOnBattery } from '../../guards/battery.ts';
import { powerReader } from '../../guards/power.ts';
import { UsageError } from '../exit-codes.ts';
import type { Sidecar } from '../run-miner.ts';

/** @throws UsageError on systems whose power supply pickaxe cannot read. */
export async function battery({ pause }: Config): Promise<Sidecar | undefined> {
  if (!pause.onBattery) return undefined;
  const readPower = powerReader();
  if (!readPower) throw new UsageError('--pause-on-battery works on Linux and macOS only.');
  return (running) => pauseOnBattery(readPower, running);
}
