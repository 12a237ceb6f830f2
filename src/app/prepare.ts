/** Checks the settings and makes what they ask for, before `mine`, `demo` or `worker` starts a miner. */

import { rigContradictions } from '../config/contradictions.ts';
import type { Loaded } from '../config/load.ts';
import { LogTail } from '../report/log-tail.ts';
import { makeLog } from '../terminal/log.ts';
import { earningsTerms } from './earnings-terms.ts';
import { refuse } from './exit-codes.ts';
import { LiveConfig } from './live-config.ts';
import { openLogFile } from './log-file.ts';
import { relaysOf } from './relays.ts';
import type { Rig } from './run-miner.ts';
import { sidecarsOf } from './sidecars.ts';
import { limitsOf } from './temperatures.ts';

type Prepared = Pick<Rig, 'rigName' | 'log' | 'logTail' | 'temperatureLimits' | 'sidecars' | 'relays' | 'earnings'> & {
  /** Closes the log file once all lines are written. */
  readonly close: () => Promise<void>;
};

interface PrepareOptions {
  /** Whether stdin is used for something else than keys. */
  readonly usesStdin?: boolean;
}

/**
 * @param reload reads the configuration again
 * @throws UsageError when settings contradict each other, or the log file cannot be written.
 */
export async function prepare(
  loaded: Loaded,
  reload: () => Promise<Loaded>,
  { usesStdin = false }: PrepareOptions = {},
): Promise<Prepared> {
  const { config } = loaded;
  refuse(rigContradictions(config));
  const live = new LiveConfig(loaded, reload);
  const sidecars = await sidecarsOf(live, usesStdin);
  const file = await openLogFile(config.logFile);
  const logTail = new LogTail();
  const log = makeLog(config.log.level, config.log.format, { file, tail: logTail });
  const temperatureLimits: Prepared['temperatureLimits'] = (kind) => limitsOf(live.config.devices, kind);
  const relays = await relaysOf(config, log);
  const named = config.rig.name === undefined ? {} : { rigName: config.rig.name };
  const earnings = earningsTerms(config);
  return { ...named, log, logTail, temperatureLimits, sidecars, relays, earnings, close: async () => file?.close() };
}
