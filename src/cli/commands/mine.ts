/** `pickaxe mine`: mines on a node, or tells what it would mine with. */

import type { Loaded } from '../../config/load.ts';
import { configAsJson, configAsToml } from '../../config/print.ts';
import { Events } from '../../events/events.ts';
import { companionsOf } from '../companions.ts';
import { dryRun } from '../dry-run.ts';
import { EXIT } from '../exit-codes.ts';
import { LiveConfig } from '../live-config.ts';
import { makeLog } from '../log.ts';
import { openLogFile } from '../log-file.ts';
import { nodeSource } from '../node-source.ts';
import { chooseEngines } from '../rig.ts';
import { runMiner } from '../run-miner.ts';
import { limitsOf } from '../temperatures.ts';

export interface MineOptions {
  readonly printConfig?: boolean;
  readonly dryRun?: boolean;
}

/** @param reload reads the configuration again */
export async function runMine(loaded: Loaded, options: MineOptions, reload: () => Promise<Loaded>): Promise<number> {
  const { config } = loaded;
  if (options.printConfig) {
    process.stdout.write(config.run.json ? configAsJson(loaded) : configAsToml(loaded));
    return EXIT.done;
  }
  const live = new LiveConfig(loaded, reload);
  const temperatureLimits = () => limitsOf(live.config.devices);
  temperatureLimits();
  const companions = await companionsOf(live);
  const events = new Events();
  const source = nodeSource(config, events);
  const logFile = openLogFile(config.logFile);
  const log = makeLog(config.log.level, config.log.format, logFile);
  try {
    const engines = await chooseEngines(config, log);
    const rig = { events, source, engines, log, temperatureLimits, companions };
    return options.dryRun ? await dryRun(rig, config) : await runMiner(rig, config.run);
  } finally {
    await logFile?.close();
  }
}
