/**
 * `pickaxe mine`: reads the settings, and mines. What mines is loaded only once the settings are right: whoever
 * mistyped a flag learns it at once.
 */

import { EXIT, UsageError } from '../app/exit.ts';
import type { LogPlace } from '../app/log-file.ts';
import type { Loaded } from '../config/load.ts';
import { configAsJson, configAsToml } from '../config/print.ts';

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
    if (options.printConfig) return printConfig(loaded);
    const { mineOrTry } = await import('./mine-rig.ts');
    return await mineOrTry(loaded, load, options.dryRun === true);
  } catch (fault) {
    if (fault instanceof UsageError) await note(logPlace, fault.message);
    throw fault;
  }
}

/** Writes why the command line of `pickaxe mine` cannot be read into the log file that it names, if it names one. */
export async function noteWrongFlags(flags: LogFlags, message: string): Promise<void> {
  await note(placeNamedBy(flags), message.replace(/^error: /, ''));
}

/** A configuration with an error in it does not say where the log goes; a flag or a variable still does. */
function placeNamedBy({ logFile, logFormat }: LogFlags): LogPlace {
  const { PICKAXE_LOG_FILE, PICKAXE_LOG_FORMAT } = process.env;
  const format = (logFormat ?? PICKAXE_LOG_FORMAT) === 'json' ? 'json' : 'text';
  return { file: logFile ?? (PICKAXE_LOG_FILE || undefined), format };
}

async function note(place: LogPlace, message: string): Promise<void> {
  if (place.file !== undefined) await (await import('../app/log-file.ts')).noteStartError(place, message);
}

function printConfig(loaded: Loaded): number {
  process.stdout.write(loaded.config.run.json ? configAsJson(loaded) : configAsToml(loaded));
  return EXIT.done;
}
