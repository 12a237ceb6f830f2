/**
 * What a rig consists of besides its source (choose-source.ts) and its engines (choose-engines.ts): the log, the
 * relays and the sidecars. `mine`, `demo` and `worker` make it from the settings before they start a miner.
 */

import { homedir, hostname } from 'node:os';
import { sep } from 'node:path';
import type { Logger } from 'pino';
import type { Loaded } from '../config/load.ts';
import type { Config } from '../config/settings.ts';
import { LogTail } from '../report/log-tail.ts';
import { logStart, type Setup } from '../report/running-miner.ts';
import { makeLog } from '../terminal/log.ts';
import type { ServedPage } from '../terminal/pages.ts';
import { limitsOf } from './choose-engines.ts';
import { earningsTerms } from './ledger-views.ts';
import { LiveConfig } from './live-config.ts';
import { openLogFile } from './log-file.ts';
import type { MakeRelay, Rig, Sidecar } from './run-miner.ts';
import { notices } from './sidecars/notices.ts';
import { activity, alarm, battery, restartOnChange, schedule } from './sidecars/pausing.ts';
import { terminal } from './sidecars/terminal.ts';

type Prepared = Pick<Rig, 'log' | 'logTail' | 'temperatureLimits' | 'sidecars' | 'relays' | 'earnings'> & {
  readonly rigName: string;
  readonly live: LiveConfig;
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
    logStart(log, { rigName, ...setup }, { current: process.cwd(), home: homeOrNone(), separator: sep });
    return setup;
  };
  const parts = { live, log, logTail, temperatureLimits, sidecars, relays, earnings };
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

/** What sidecars share besides the settings. */
interface Beside {
  readonly usesStdin: boolean;
  /** The HTTP server says where it serves the page, and the terminal shows it. */
  readonly page: { served?: ServedPage };
}

/**
 * Sidecars start in this order and end in the reverse order. A factory returns undefined when the settings do not ask
 * for its sidecar. Sidecars that need a library are imported only when they are used.
 */
const FACTORIES: readonly ((live: LiveConfig, beside: Beside) => Promise<Sidecar | undefined>)[] = [
  async (live) => (live.files.length > 0 ? (await import('./sidecars/reload.ts')).reload(live) : undefined),
  notices,
  (live) => restartOnChange(live, ({ alarm }) => alarm, alarm),
  (live) => restartOnChange(live, ({ pause }) => pause.onBattery, battery),
  (live) => restartOnChange(live, ({ pause }) => pause.onActivity, activity),
  (live) => restartOnChange(live, ({ pause }) => pause.schedule, schedule),
  async ({ config }, { usesStdin, page }) => terminal(config, usesStdin, () => page.served),
  async () => (process.env.NOTIFY_SOCKET ? (await import('./systemd.ts')).systemd() : undefined),
  async ({ config: { http } }, { page }) => {
    if (http.listen === undefined) return undefined;
    const { httpSidecar } = await import('./sidecars/http.ts');
    return httpSidecar(http, (served) => {
      page.served = served;
    });
  },
];

/**
 * @param usesStdin whether stdin is used for something else than keys
 * @throws UsageError when a sidecar cannot run here
 */
export async function sidecarsOf(live: LiveConfig, usesStdin = false): Promise<Sidecar[]> {
  const sidecars: Sidecar[] = [];
  const beside: Beside = { usesStdin, page: {} };
  for (const make of FACTORIES) {
    const sidecar = await make(live, beside);
    if (sidecar) sidecars.push(sidecar);
  }
  return sidecars;
}

/** Relays are imported only when one is used. @throws UsageError when a relay cannot do what the settings ask for */
export async function relaysOf({ stratum, externalWorker }: Config, log: Logger): Promise<MakeRelay[]> {
  const { command } = externalWorker;
  return [
    ...(stratum.listen ? [(await import('./relays.ts')).stratumServer(stratum, log)] : []),
    ...(command === undefined ? [] : [(await import('./relays.ts')).externalWorker(command, log)]),
  ];
}
