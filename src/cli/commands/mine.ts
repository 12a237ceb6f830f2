/** `pickaxe mine`: mines on a node. */

import { Events } from '../../events/events.ts';
import { type CompanionOptions, companionsOf } from '../companions.ts';
import { makeLog } from '../log.ts';
import { type NodeOptions, nodeSource } from '../node-source.ts';
import { chooseEngines, type DeviceOptions } from '../rig.ts';
import { type MiningOptions, runMiner } from '../run-miner.ts';
import { limitsOf, type TemperatureOptions } from '../temperatures.ts';

type MineOptions = NodeOptions & DeviceOptions & MiningOptions & TemperatureOptions & CompanionOptions;

export async function runMine(options: MineOptions): Promise<number> {
  const temperatureLimits = limitsOf(options);
  const companions = await companionsOf(options);
  const events = new Events();
  const source = nodeSource(options, events);
  const log = makeLog(options.logLevel, options.logFormat);
  const engines = await chooseEngines(options, log);
  return runMiner({ events, source, engines, log, temperatureLimits, companions }, options);
}
