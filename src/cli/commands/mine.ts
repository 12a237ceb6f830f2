/** `pickaxe mine`: mines on a node, or tells what it would mine with. */

import { chooseEngines } from '../../app/choose-engines.ts';
import { chooseSource, insecureTlsRisk } from '../../app/choose-source.ts';
import { dryRun } from '../../app/dry-run.ts';
import { EXIT } from '../../app/exit-codes.ts';
import { prepare } from '../../app/prepare.ts';
import { runMiner } from '../../app/run-miner.ts';
import type { Loaded } from '../../config/load.ts';
import { configAsJson, configAsToml } from '../../config/print.ts';
import { Events } from '../../events/events.ts';

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
  const events = new Events();
  const source = chooseSource(config, events);
  const { close, ...prepared } = await prepare(loaded, reload);
  const risk = insecureTlsRisk(config.node);
  if (risk) prepared.log.warn({ tag: 'node' }, `${risk.what}: ${risk.why}; ${risk.mend}`);
  try {
    const engines = await chooseEngines(config, prepared.log);
    const rig = { events, source, engines, ...prepared };
    return options.dryRun ? await dryRun(rig, config) : await runMiner(rig, config.run);
  } finally {
    await close();
  }
}
