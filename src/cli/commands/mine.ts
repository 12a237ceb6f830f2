/** `pickaxe mine`: mines on a node. */

import { Events } from '../../events/events.ts';
import { type CompanionOptions, companionsOf } from '../companions.ts';
import { makeLog } from '../log.ts';
import { type LogFileOptions, openLogFile } from '../log-file.ts';
import { type NodeOptions, nodeSource } from '../node-source.ts';
import { chooseEngines, type DeviceOptions } from '../rig.ts';
import { type MiningOptions, runMiner } from '../run-miner.ts';
import { limitsOf, type TemperatureOptions } from '../temperatures.ts';

type MineOptions = NodeOptions & DeviceOptions & MiningOptions & TemperatureOptions & LogFileOptions & CompanionOptions;

export async function runMine(options: MineOptions): Promise<number> {
  const temperatureLimits = limitsOf(options);
  const companions = await companionsOf(options);
  const events = new Events();
  const source = nodeSource(options, events);
  const logFile = openLogFile(options);
  const log = makeLog(options.logLevel, options.logFormat, logFile);
  try {
    const engines = await chooseEngines(options, log);
    return await runMiner({ events, source, engines, log, temperatureLimits, companions }, options);
  } finally {
    await logFile?.close();
  }
}
