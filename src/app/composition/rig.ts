/**
 * Makes a rig's parts from the settings: the log, the source of work, engines, relays and sidecars. `mine`,
 * `coordinate`, `demo` and `worker` begin here, and run-miner.ts runs the parts.
 */

import { homedir, hostname } from 'node:os';
import { sep } from 'node:path';
import type { Logger } from 'pino';
import { Events } from '../../miner/events/events.ts';
import type { LimitsOf } from '../../miner/loop/thermal-guard.ts';
import { minerIdentity } from '../../node/client/miner-identity.ts';
import { nodeAddress } from '../../node/http/url.ts';
import { LogTail } from '../../rig/log/log-tail.ts';
import { logStart, type Setup } from '../../rig/running-miner.ts';
import { makeLog } from '../../rig/terminal/log.ts';
import type { ServedPage } from '../../rig/terminal/pages.ts';
import { screen, writeLine } from '../../rig/terminal/screen.ts';
import { lacksNetwork } from '../config/contradictions.ts';
import { foundFileNote, type Loaded } from '../config/load.ts';
import type { Config } from '../config/settings.ts';
import { earningsTerms } from '../nodes/ledger-views.ts';
import { describeServedNetwork } from '../nodes/node-clients.ts';
import { refuse } from '../process/exit.ts';
import { openLogFile } from '../process/log-file.ts';
import { type Restart, withRestarts } from '../process/restarts.ts';
import { onSignals } from '../process/signals.ts';
import { chooseEngines, limitsOf } from './choose-engines.ts';
import { systemContext } from './context.ts';
import type { LinkedMember } from './fleet-link.ts';
import { LiveConfig, reloadAtHangup, reloadOnChange, restartOnChange } from './reload.ts';
import { type MakeRelay, type RigParts, runMiner, type Sidecar } from './run-miner.ts';
import { activity, alarm, battery, blocks, notices, schedule } from './sidecars.ts';
import { terminal } from './terminal.ts';

type Prepared = Pick<RigParts, 'context' | 'log' | 'logTail' | 'earnings' | 'writeJson' | 'showsStatus'> & {
  readonly temperatureLimits: LimitsOf;
  readonly sidecars: readonly Sidecar[];
  readonly relays: readonly MakeRelay[];
  readonly rigName: string;
  readonly live: LiveConfig;
  /** Logs the first lines: the rig, its configuration files, the source and the payee. @returns the `Setup` */
  readonly announce: (payee: Payee) => Setup;
  readonly close: () => Promise<void>;
};

type Payee = Omit<Setup, 'configFiles'>;

interface PrepareOptions {
  /** Whether stdin is read for something other than key presses. */
  readonly usesStdin?: boolean;
}

/**
 * Makes the parts that every rig needs, whatever its source of work is.
 * @param reload reads the configuration again
 * @throws UsageError when the settings of the log file, of a sidecar or of a relay cannot be used on this machine
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
  const announce = (payee: Payee) => {
    const setup = { configFiles: loaded.files, ...payee };
    logStart(log, { rigName, ...setup }, { current: process.cwd(), home: homeOrNone(), separator: sep });
    return setup;
  };
  const writeJson = config.run.json ? (line: string) => writeLine(process.stdout, line) : undefined;
  const showsStatus = () => screen.showsLine;
  const outputs = { log, logTail, writeJson, showsStatus };
  const parts = { context: systemContext, live, ...outputs, temperatureLimits, sidecars, relays, earnings };
  return { rigName, announce, ...parts, close: async () => file?.close() };
}

/** In some containers the system has no entry for the user, and `homedir` throws. @returns undefined then */
function homeOrNone(): string | undefined {
  try {
    return homedir();
  } catch {
    return undefined;
  }
}

/** State that sidecars share. */
interface SidecarContext {
  readonly usesStdin: boolean;
  /** The web page's address and token. The HTTP server's sidecar sets them, and the terminal shows them. */
  readonly page: { served?: ServedPage };
}

/**
 * Functions that make the sidecars. Sidecars start in this order and end in the reverse order. A function may return
 * undefined if its sidecar is not needed. Libraries are imported only when a sidecar needs them.
 */
const FACTORIES: readonly ((live: LiveConfig, context: SidecarContext) => Promise<Sidecar | undefined>)[] = [
  async () => stopAtSignals,
  reloadOnChange,
  reloadAtHangup,
  notices,
  (live) => restartOnChange(live, ({ alarm }) => alarm, alarm),
  (live) => restartOnChange(live, ({ pause }) => pause.onBattery, battery),
  (live) => restartOnChange(live, ({ pause }) => pause.onActivity, activity),
  (live) => restartOnChange(live, ({ pause }) => pause.schedule, schedule),
  async ({ config }, { usesStdin, page }) => terminal(config, usesStdin, () => page.served),
  async () => (process.env.NOTIFY_SOCKET ? (await import('../process/systemd.ts')).systemd() : undefined),
  async ({ config: { http } }, { page }) => {
    if (http.listen === undefined) return undefined;
    const { httpSidecar } = await import('./http-api.ts');
    return httpSidecar(http, (served) => {
      page.served = served;
    });
  },
];

/** Stops the miner at the first signal, and ends the process at the second. */
const stopAtSignals: Sidecar = async ({ controls, log }) =>
  onSignals(() => {
    log.info({ tag: 'miner' }, 'stopping; repeat to exit at once');
    controls.stop();
  });

/** @throws UsageError when the settings of a sidecar cannot be used on this machine */
export async function sidecarsOf(live: LiveConfig, usesStdin = false): Promise<Sidecar[]> {
  const sidecars: Sidecar[] = [];
  const context: SidecarContext = { usesStdin, page: {} };
  for (const make of FACTORIES) {
    const sidecar = await make(live, context);
    if (sidecar) sidecars.push(sidecar);
  }
  return sidecars;
}

/**
 * Imports the code of relays only if the settings ask for a relay.
 * @throws UsageError when a relay's settings cannot be used
 */
async function relaysOf({ stratum, externalWorker }: Config, log: Logger): Promise<MakeRelay[]> {
  const { command } = externalWorker;
  return [
    ...(stratum.listen ? [(await import('./relays.ts')).stratumServer(stratum, log)] : []),
    ...(command === undefined ? [] : [(await import('./relays.ts')).externalWorker(command, log)]),
  ];
}

interface MineOptions {
  /** Whether the devices are only opened and closed (`--dry-run`). */
  readonly tries: boolean;
  /** Whether the source's work is published to the rigs of a fleet (`pickaxe coordinate`). */
  readonly coordinates?: boolean;
}

/**
 * Mines on the configured nodes or pools, or for the configured fleet.
 * @returns the exit code
 * @throws UsageError when settings contradict each other or cannot be used on this machine
 */
export function mine(loaded: Loaded, reload: () => Promise<Loaded>, options: MineOptions): Promise<number> {
  return withRestarts(loaded, reload, (current, run, restart) => mineOnce(current, reload, options, { run, restart }));
}

async function mineOnce(
  loaded: Loaded,
  reload: () => Promise<Loaded>,
  { tries, coordinates = false }: MineOptions,
  { run, restart }: { readonly run: Config['run']; readonly restart: Restart },
): Promise<number> {
  const { config } = loaded;
  const events = new Events();
  const isForFleet = config.nats.urls !== undefined && !coordinates;
  if (!tries && !isForFleet) await refuseWithoutNetwork(config);
  const { ChosenSource, insecureTlsRisk } = await import('./choose-source.ts');
  const chosen = isForFleet ? undefined : new ChosenSource(config, events, systemContext, coordinates);
  const { close, announce, live, ...prepared } = await prepare(loaded, reload);
  const member = await memberOf(config, coordinates, prepared.log);
  const { composeRig } = await import('./compose-rig.ts');
  const parts = { ...prepared, chosen, member, live, events, restart, reload, blockLog: blocks };
  const composed = await composeRig(parts);
  const setup = announce(payeeOf(config, isForFleet));
  noteFoundFile(loaded, prepared.log);
  const risk = insecureTlsRisk(config);
  if (risk) prepared.log.warn({ tag: config.pool.urls ? 'pool' : 'node' }, `${risk.what}: ${risk.why}; ${risk.remedy}`);
  try {
    const relays = [...prepared.relays, ...(await simulated(config, prepared.log, !tries)), ...composed.relays];
    const engines = await chooseEngines(config, prepared.log, { mayBeNone: relays.length > 0, minesAtOnce: true });
    const rig = { events, engines, ...prepared, ...composed, setup, relays };
    if (tries) return await (await import('./dry-run.ts')).dryRun(rig, config, member);
    member?.link.open();
    return await runMiner({ ...rig, sidecars: [...prepared.sidecars, ...composed.sidecars], restart }, run);
  } finally {
    await member?.link.close();
    await close();
  }
}

/**
 * @returns undefined for a rig that belongs to no fleet
 * @throws UsageError when a coordinator has no NATS server, or when the credentials or certificates cannot be used
 */
async function memberOf(config: Config, coordinates: boolean, log: Logger): Promise<LinkedMember | undefined> {
  if (config.nats.urls === undefined && !coordinates) return undefined;
  const { fleetMember } = await import('./fleet-link.ts');
  return fleetMember(config, (line) => log.warn({ tag: 'fleet' }, line));
}

/**
 * Refuses to mine on nodes if the settings name no network, and the URL of at least one node names none.
 * @throws UsageError. If a node answers, the error names that node's network, and the user decides whether to mine on
 *   it
 */
async function refuseWithoutNetwork(config: Config): Promise<void> {
  const { node, pool, miner } = config;
  const isForNodes = pool.urls === undefined && node.urls !== undefined && miner.publicKeys !== undefined;
  if (isForNodes && lacksNetwork(node)) refuse([await describeServedNetwork(config)]);
}

/** On a pool, the payee is the user, without the password. In a fleet, the coordinators decide who is paid. */
function payeeOf({ node, pool, miner, nats }: Config, isForFleet: boolean): Payee {
  if (isForFleet) return { fleet: nats.urls };
  if (pool.urls) return { user: pool.user, pools: pool.urls };
  const [url = ''] = node.urls ?? [];
  return { account: minerIdentity(miner)?.account, network: nodeAddress(url, node.network ?? '').network };
}

/** Logs that a configuration file was found in the current folder, even if that file sets a quieter log level. */
function noteFoundFile({ found, origins }: Loaded, log: Logger): void {
  const note = foundFileNote(found, origins);
  const isQuietedByIt = origins.get('log.level')?.layer === 'project';
  if (note !== undefined) (isQuietedByIt ? log.child({}, { level: 'info' }) : log).info({ tag: 'config' }, note);
}

/**
 * @param asks whether nodes are asked which network they serve
 * @returns the simulated hasher; no relay without `--simulate`
 * @throws UsageError on the main network, or when a node that is asked does not answer
 */
async function simulated(
  { node, testNetwork: { simulate } }: Config,
  log: Logger,
  asks: boolean,
): Promise<MakeRelay[]> {
  if (simulate === undefined) return [];
  return [await (await import('./relays.ts')).simulatedHasher(simulate, node, log, asks)];
}
