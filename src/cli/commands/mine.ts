/** `pickaxe mine`: mines on a node, or tells what it would mine with. */

import type { Loaded } from '../../config/load.ts';
import { configAsJson, configAsToml } from '../../config/print.ts';
import { Events } from '../../events/events.ts';
import { companionsOf } from '../companions.ts';
import { dryRun } from '../dry-run.ts';
import { EXIT } from '../exit-codes.ts';
import { makeLog } from '../log.ts';
import { nodeSource } from '../node-source.ts';
import { chooseEngines } from '../rig.ts';
import { runMiner } from '../run-miner.ts';
import { limitsOf } from '../temperatures.ts';

export interface MineOptions {
  readonly printConfig?: boolean;
  readonly dryRun?: boolean;
}

export async function runMine(loaded: Loaded, options: MineOptions): Promise<number> {
  const { config } = loaded;
  if (options.printConfig) {
    process.stdout.write(config.run.json ? configAsJson(loaded) : configAsToml(loaded));
    return EXIT.done;
  }
  const temperatureLimits = limitsOf(config.devices);
  const companions = await companionsOf(config);
  const events = new Events();
  const source = nodeSource(config, events);
  const log = makeLog(config.log.level, config.log.format);
  const engines = await chooseEngines(config, log);
  const rig = { events, source, engines, log, temperatureLimits, companions };
  return options.dryRun ? dryRun(rig, config) : runMiner(rig, config.run);
}
