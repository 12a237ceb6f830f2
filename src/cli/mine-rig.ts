/**
 * What `pickaxe mine` does with settings that are right: it mines on a node or a pool, or says what it would mine with.
 */

import type { Logger } from 'pino';
import { chooseEngines } from '../app/choose-engines.ts';
import { ChosenSource, insecureTlsRisk, minerAccount } from '../app/choose-source.ts';
import { dryRun } from '../app/dry-run.ts';
import { refuse } from '../app/exit.ts';
import type { LiveConfig } from '../app/live-config.ts';
import { prepare } from '../app/rig.ts';
import { type MakeRelay, type Rig, runMiner, type Sidecar } from '../app/run-miner.ts';
import { blocks } from '../app/sidecars/blocks.ts';
import { nodes } from '../app/sidecars/nodes.ts';
import { restartOnChange } from '../app/sidecars/pausing.ts';
import { lacksNetwork } from '../config/contradictions.ts';
import { foundFileNote, type Loaded } from '../config/load.ts';
import type { Config } from '../config/settings.ts';
import { Events } from '../events/events.ts';
import { nodeAddress } from '../node/url.ts';
import type { Setup } from '../report/running-miner.ts';

/**
 * @param reload reads the configuration again while mining
 * @param tries whether it only tries the devices: `--dry-run`
 * @returns the exit code
 * @throws UsageError when settings contradict each other or cannot be used here
 */
export async function mineOrTry(loaded: Loaded, reload: () => Promise<Loaded>, tries: boolean): Promise<number> {
  const { config } = loaded;
  const events = new Events();
  if (!tries) await refuseWithoutNetwork(config);
  const chosen = new ChosenSource(config, events);
  const { source } = chosen;
  const { close, announce, live, ...prepared } = await prepare(loaded, reload);
  live.beforeChange((next) => chosen.prepare(next));
  const setup = announce(whomFor(config));
  noteFoundFile(loaded, prepared.log);
  const risk = insecureTlsRisk(config);
  if (risk) prepared.log.warn({ tag: config.pool.urls ? 'pool' : 'node' }, `${risk.what}: ${risk.why}; ${risk.mend}`);
  try {
    const relays = [...(prepared.relays ?? []), ...(await simulated(config, prepared.log, !tries))];
    const engines = await chooseEngines(config, prepared.log, { mayBeNone: relays.length > 0 });
    const rig = { events, source, engines, ...prepared, setup, relays, ...balance(live) };
    if (tries) return await dryRun(rig, config);
    // The block log starts last and ends first: what ends after it, such as the webhook, still hears of its events.
    const watch = await nodeWatch(live, chosen);
    const sidecars = [...(prepared.sidecars ?? []), ...watch, ...blockLog(live, chosen)];
    return await runMiner({ ...rig, sidecars }, config.run);
  } finally {
    await close();
  }
}

/**
 * @throws UsageError that names the network which a node serves, where no setting does: it may be another than is meant
 */
async function refuseWithoutNetwork(config: Config): Promise<void> {
  const { node, pool, miner } = config;
  if (pool.urls !== undefined || node.urls === undefined || miner.publicKeys === undefined || !lacksNetwork(node))
    return;
  const { servedNetwork } = await import('../app/node-api.ts');
  refuse([await servedNetwork(config)]);
}

/** Who earns, and where: on a pool the user, and never the password. */
function whomFor({ node, pool, miner }: Config): Omit<Setup, 'configFiles'> {
  if (pool.urls) return { user: pool.user, pools: pool.urls };
  const [url = ''] = node.urls ?? [];
  return { account: minerAccount(miner), network: nodeAddress(url, node.network ?? '').network };
}

/** A file that was only found cannot keep this from being logged: its log level does not count here. */
function noteFoundFile({ found, origins }: Loaded, log: Logger): void {
  const note = foundFileNote(found, origins);
  const isQuietedByIt = origins.get('log.level')?.layer === 'project';
  if (note !== undefined) (isQuietedByIt ? log.child({}, { level: 'info' }) : log).info({ tag: 'config' }, note);
}

/** The watch starts anew when the nodes change. */
async function nodeWatch(live: LiveConfig, chosen: ChosenSource): Promise<Sidecar[]> {
  if (live.config.pool.urls) return [];
  const make = async (config: Config) => {
    const watched = chosen.nodes;
    // Of a node that was left for good, nothing else matters; one that is no longer configured has no rank.
    const judge = (at: number, fault: string | undefined) => {
      const rank = chosen.nodes.indexOf(watched[at]);
      if (rank >= 0 && !watched[at].isRevoked) chosen.source.judge(rank, fault);
    };
    return nodes({ settings: config, source: { judge } }, config.stratum.listen !== undefined);
  };
  return [await restartOnChange(live, ({ node }) => node, make)];
}

/** Pools follow their blocks themselves. */
function blockLog(live: LiveConfig, chosen: ChosenSource): Sidecar[] {
  const { blocks: settings, node, ledger, pool, miner } = live.config;
  if (pool.urls) return [];
  const { predicate, publicKeys = [] } = miner;
  const leave = (name: string, reason: string) => chosen.nodes.find((each) => each.name === name)?.revoke(reason);
  const options = { settings, node, ledger, account: minerAccount(miner), keyset: { predicate, publicKeys }, leave };
  return [blocks(options, live)].filter((sidecar) => sidecar !== undefined);
}

/** A pool pays by its own rules, so there is no node to ask. The client of a node is loaded only when somebody asks. */
function balance(live: LiveConfig): Pick<Rig, 'askBalance'> {
  if (live.config.pool.urls) return {};
  return { askBalance: async (stop) => (await import('../app/ledger-views.ts')).askBalance(live.config, stop) };
}

/** @param asks whether nodes may be asked @throws UsageError on the main network */
async function simulated(
  { node, testNetwork: { simulate } }: Config,
  log: Logger,
  asks: boolean,
): Promise<MakeRelay[]> {
  if (simulate === undefined) return [];
  return [await (await import('../app/simulated.ts')).simulatedHasher(simulate, node, log, asks)];
}
