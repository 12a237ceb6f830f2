/** `pickaxe mine`: mines on a node or a pool, or says what it would mine with. */

import { chooseEngines } from '../../app/choose-engines.ts';
import { chooseSource, insecureTlsRisk } from '../../app/choose-source.ts';
import { dryRun } from '../../app/dry-run.ts';
import { EXIT, UsageError } from '../../app/exit-codes.ts';
import { prepare } from '../../app/prepare.ts';
import { runMiner } from '../../app/run-miner.ts';
import { type LogPlace, noteStartError } from '../../app/start-error.ts';
import type { Loaded } from '../../config/load.ts';
import { configAsJson, configAsToml } from '../../config/print.ts';
import { Events } from '../../events/events.ts';

export interface MineOptions {
  readonly printConfig?: boolean;
  readonly dryRun?: boolean;
}

/** The flags that say where the log goes, before anything is checked. */
export interface LogFlags {
  readonly logFile?: string;
  readonly logFormat?: string;
}

/** @param load reads the configuration, and reads it again while mining */
export async function runMine(load: () => Promise<Loaded>, options: MineOptions, flags: LogFlags): Promise<number> {
  let logPlace = placeNamedBy(flags);
  try {
    const loaded = await load();
    const { log, logFile } = loaded.config;
    logPlace = { file: logFile.path, format: log.format };
    return await mine(loaded, options, load);
  } catch (fault) {
    if (fault instanceof UsageError) await noteStartError(logPlace, fault.message);
    throw fault;
  }
}

/** Writes why the command line of `pickaxe mine` cannot be read into the log file that it names, if it names one. */
export async function noteWrongFlags(flags: LogFlags, message: string): Promise<void> {
  await noteStartError(placeNamedBy(flags), message.replace(/^error: /, ''));
}

/** A configuration with an error in it does not say where the log goes; a flag or a variable still does. */
function placeNamedBy({ logFile, logFormat }: LogFlags): LogPlace {
  const { PICKAXE_LOG_FILE, PICKAXE_LOG_FORMAT } = process.env;
  const format = (logFormat ?? PICKAXE_LOG_FORMAT) === 'json' ? 'json' : 'text';
  return { file: logFile ?? (PICKAXE_LOG_FILE || undefined), format };
}

async function mine(loaded: Loaded, options: MineOptions, reload: () => Promise<Loaded>): Promise<number> {
  const { config } = loaded;
  if (options.printConfig) {
    process.stdout.write(config.run.json ? configAsJson(loaded) : configAsToml(loaded));
    return EXIT.done;
  }
  const events = new Events();
  const source = chooseSource(config, events);
  const { close, ...prepared } = await prepare(loaded, reload);
  const risk = insecureTlsRisk(config);
  if (risk) prepared.log.warn({ tag: config.pool.urls ? 'pool' : 'node' }, `${risk.what}: ${risk.why}; ${risk.mend}`);
  try {
    const engines = await chooseEngines(config, prepared.log);
    const rig = { events, source, engines, ...prepared };
    return options.dryRun ? await dryRun(rig, config) : await runMiner(rig, config.run);
  } finally {
    await close();
  }
}
