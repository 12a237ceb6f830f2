/** `pickaxe mine`. The modules for mining are loaded last, so that wrong flags are reported at once. */

import { type Command, Option } from 'commander';
import type { Loaded } from '../../app/config/load.ts';
import { configAsJson, configAsToml } from '../../app/config/print.ts';
import { EXIT, UsageError } from '../../app/process/exit.ts';
import type { LogPlace } from '../../app/process/log-file.ts';
import type { Io, Line } from '../io.ts';
import { listLast } from '../usage/help.ts';
import { MINING, settingsOf, withSettings } from '../usage/options.ts';

export function declare(mine: Command, line: Line): void {
  withSettings(mine, 'node', 'pool', 'miner', 'nats', 'fleet', 'blocks', ...MINING, 'test-network');
  const load = (refuses: boolean) => settingsOf(mine, refuses ? 'start' : undefined);
  declareMining(mine, { load, coordinates: false }, line);
  mine.addHelpText('after', EXAMPLES);
}

interface Mining {
  /** Reads the configuration, at the start and when it is reloaded. @param refuses whether to refuse contradictions */
  readonly load: (refuses: boolean) => Promise<Loaded>;
  readonly coordinates: boolean;
}

/** Declares the options and the action that `mine` and `coordinate` share. Must be called after `withSettings`. */
export function declareMining(command: Command, { load, coordinates }: Mining, { io, action }: Line): void {
  const printConfig = new Option('--print-config', 'print the effective settings and their sources, and exit');
  command
    .addOption(printConfig)
    .option(
      '--dry-run',
      'check settings and devices, print what would mine, and exit, without asking node, pool or fleet',
    )
    .action(
      action((options) => {
        // Contradictory settings can be printed, so that the user finds out where they come from.
        const refuses = !options.printConfig;
        return runMine(() => load(refuses), { ...options, coordinates }, command.opts(), io);
      }),
    );
  listLast(command, [printConfig]);
}

const EXAMPLES = `
Examples:
  # on a node, with the CPU and every GPU
  pickaxe mine -o http://10.0.0.2:1848 --network mainnet01 -u KEY
  # on a pool, with the line that its page shows for other miners
  pickaxe mine -o stratum+tcp://pool.example:3333 -u NAME.rig1 -p x
  # for a fleet, whose coordinators give the work and are paid
  pickaxe mine --nats nats://10.0.0.2:4222 --rig-name rig1
  # with the first two GPUs only, paused at 80 °C
  pickaxe mine -d 0,1 --temp-limit 80
  # at night, with four CPU threads, and a web page at http://127.0.0.1:8080
  pickaxe mine -d cpu -t 4 --schedule 22:00-07:00 --http 8080

Without flags, pickaxe.toml says what to mine: pickaxe init writes it.`;

interface MineOptions {
  readonly printConfig?: boolean;
  readonly dryRun?: boolean;
  readonly coordinates: boolean;
}

/** The flags for the log's file and format, unchecked: errors in other flags are also written to that log. */
interface LogFlags {
  readonly logFile?: string;
  readonly logFormat?: string;
}

/** @param load reads the configuration, at the start and when it is reloaded */
async function runMine(load: () => Promise<Loaded>, options: MineOptions, flags: LogFlags, io: Io): Promise<number> {
  let logPlace = placeNamedBy(flags);
  try {
    const loaded = await load();
    const { log, logFile } = loaded.config;
    logPlace = { file: logFile.path, format: log.format };
    if (options.printConfig) return printConfig(loaded, io);
    const { mine } = await import('../../app/composition/rig.ts');
    return await mine(loaded, load, { tries: options.dryRun === true, coordinates: options.coordinates });
  } catch (fault) {
    if (fault instanceof UsageError) await note(logPlace, fault.message);
    throw fault;
  }
}

/** Writes an error of the command line to the log file that the flags or the environment name, if any. */
export async function noteWrongFlags(flags: LogFlags, message: string): Promise<void> {
  await note(placeNamedBy(flags), message.replace(/^error: /, ''));
}

/** @returns the file and format of the log as the flags say, or else as the environment variables say */
function placeNamedBy({ logFile, logFormat }: LogFlags): LogPlace {
  const { PICKAXE_LOG_FILE, PICKAXE_LOG_FORMAT } = process.env;
  const format = (logFormat ?? PICKAXE_LOG_FORMAT) === 'json' ? 'json' : 'text';
  return { file: logFile ?? (PICKAXE_LOG_FILE || undefined), format };
}

async function note(place: LogPlace, message: string): Promise<void> {
  if (place.file !== undefined) await (await import('../../app/process/log-file.ts')).noteStartError(place, message);
}

function printConfig(loaded: Loaded, io: Io): number {
  io.out(loaded.config.run.json ? configAsJson(loaded) : configAsToml(loaded));
  return EXIT.done;
}
