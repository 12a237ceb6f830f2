/** Makes what the settings ask for, before `mine`, `demo` or `worker` starts a miner. */

import { homedir, hostname } from 'node:os';
import { sep } from 'node:path';
import type { Loaded } from '../config/load.ts';
import { LogTail } from '../report/log-tail.ts';
import { logStart, type Setup } from '../report/rig.ts';
import { version } from '../system/version.ts';
import { makeLog } from '../terminal/log.ts';
import { limitsOf } from './choose-engines.ts';
import { earningsTerms } from './ledger-views.ts';
import { LiveConfig } from './live-config.ts';
import { openLogFile } from './log-file.ts';
import { relaysOf } from './relays.ts';
import type { Rig } from './run-miner.ts';
import { sidecarsOf } from './sidecars.ts';

type Prepared = Pick<Rig, 'log' | 'logTail' | 'temperatureLimits' | 'sidecars' | 'relays' | 'earnings'> & {
  readonly rigName: string;
  /** Logs what the run is about, as its first lines. @returns the same for whatever runs beside the miner */
  readonly announce: (whom: Whom) => Setup;
  /** Closes the log file once all lines are written. */
  readonly close: () => Promise<void>;
};

/** Who earns, and where. */
type Whom = Omit<Setup, 'configFiles'>;

interface PrepareOptions {
  /** Whether stdin is used for something else than keys. */
  readonly usesStdin?: boolean;
}

/**
 * @param reload reads the configuration again
 * @throws UsageError when something cannot be used here, such as the log file
 */
export async function prepare(
  loaded: Loaded,
  reload: () => Promise<Loaded>,
  { usesStdin = false }: PrepareOptions = {},
): Promise<Prepared> {
  const { config } = loaded;
  const live = new LiveConfig(loaded, reload);
  const sidecars = await sidecarsOf(live, usesStdin);
  const file = await openLogFile(config.logFile);
  const logTail = new LogTail();
  const log = makeLog(config.log.level, config.log.format, { file, tail: logTail });
  const temperatureLimits: Prepared['temperatureLimits'] = (kind, name) => limitsOf(live.config.devices, kind, name);
  const relays = await relaysOf(config, log);
  const earnings = earningsTerms(config);
  const { name: rigName = hostname() } = config.rig;
  const announce = (whom: Whom) => {
    const setup = { configFiles: loaded.files, ...whom };
    logStart(log, { version, rigName, ...setup }, { current: process.cwd(), home: homeOrNone(), separator: sep });
    return setup;
  };
  const parts = { log, logTail, temperatureLimits, sidecars, relays, earnings };
  return { rigName, announce, ...parts, close: async () => file?.close() };
}

/** @returns undefined where the system has no entry for the user, as in some containers: `homedir` throws there */
function homeOrNone(): string | undefined {
  try {
    return homedir();
  } catch {
    return undefined;
  }
}
