/** `pickaxe demo`: runs the real miner on a mock node in this process. It finds about one block per second. */

import type { Command } from 'commander';
import { chooseEngines } from '../../app/composition/choose-engines.ts';
import { ChosenSource } from '../../app/composition/choose-source.ts';
import { prepare } from '../../app/composition/rig.ts';
import { runMiner, type Sidecar } from '../../app/composition/run-miner.ts';
import { followBlocks } from '../../app/composition/sidecars.ts';
import type { Loaded } from '../../app/config/load.ts';
import { assemble, type Config, DEFAULTS, valueIn } from '../../app/config/settings.ts';
import type { Entry } from '../../app/config/settings-table.ts';
import { askBalance } from '../../app/nodes/ledger-views.ts';
import { type ApiSettings, configuredNodes, nodeApi } from '../../app/nodes/node-clients.ts';
import { Events } from '../../miner/events/events.ts';
import { MockNode } from '../../mock-node/mock-node.ts';
import { type Totals, totalsOf } from '../../node/blocks/block-index.ts';
import { MemoryStore } from '../../node/blocks/block-log.ts';
import { readDetails } from '../../node/client/ledger-reader.ts';
import { accountOf } from '../../node/client/miner-identity.ts';
import { type Decimal, formatDecimal } from '../../protocol/ledger/decimal.ts';
import { COIN } from '../../protocol/ledger/payload.ts';
import { blocksLine } from '../coins/blocks.ts';
import type { Line } from '../io.ts';
import { MINING, settingsOf, withSettings } from '../usage/options.ts';

const NETWORK = 'development';
/** The miner's public key. Nobody has its secret key, so nobody gets the demo's rewards. */
const PUBLIC_KEY = '0'.repeat(64);
/** Difficulty of the first blocks. It is low enough for a block at once on any machine. */
const FIRST_DIFFICULTY = 2 ** 22;
const BLOCK_SECONDS = 1;
/** Time between two changes of the difficulty. It is short, because the first difficulty is a guess. */
const RETARGET_MS = 250;
/**
 * Mean time between two blocks of simulated other miners. These blocks cause New Cut events, and confirm the demo's
 * blocks.
 */
const RIVAL_MS = 333;
/** Factor by which the mock node is faster than real networks: a chain has a block every 5 seconds, not every 30. */
const SPEED = 6;
/** Time limit for deciding the states of the last blocks, which usually takes far less time. */
const LAST_LOOKS_MS = 30_000;

export function declare(command: Command, { action }: Line): void {
  const load = () => settingsOf(command, 'rig');
  withSettings(command, ...MINING).action(action(async () => runDemo(await load(), load)));
}

async function runDemo(loaded: Loaded, reload: () => Promise<Loaded>): Promise<number> {
  const { config } = loaded;
  const { close, announce, ...prepared } = await prepare(withoutNoticesOfFiles(loaded), async () =>
    withoutNoticesOfFiles(await reload()),
  );
  const { log } = prepared;
  const account = accountOf(PUBLIC_KEY);
  const miner = { account, publicKeys: [PUBLIC_KEY], predicate: 'keys-all' } as const;
  const setup = announce({ account, network: NETWORK });
  const engines = await chooseEngines(config, log, { mayBeNone: prepared.relays.length > 0, minesAtOnce: true });
  const mock = new MockNode({ network: NETWORK, dialect: 'chainweb', difficulty: FIRST_DIFFICULTY, rivalMs: RIVAL_MS });
  const { url } = await mock.start();
  log.info({ tag: 'demo' }, `mock node at ${url}: its blocks are worth nothing. To mine on a real node: pickaxe init`);
  const events = new Events();
  const stopRetargeting = retarget(mock, events);
  const node = { urls: [url], network: NETWORK, insecureTls: false };
  const settings = { node, pool: DEFAULTS.pool, miner, ledger: DEFAULTS.ledger };
  const { source } = new ChosenSource(settings, events, prepared.context);
  // The demo's blocks are kept in memory, because the user's block log is for real blocks.
  const store = new MemoryStore();
  const { ledger } = settings;
  const options = { settings: DEFAULTS.blocks, account, node, ledger, speed: SPEED, lastLooksMs: LAST_LOOKS_MS };
  const sidecars = [...prepared.sidecars, followBlocks(options, () => store), lastBlocks(mock)];
  try {
    const rig = { events, source, engines, ...prepared, setup, sidecars };
    const code = await runMiner({ ...rig, askBalance: (stop) => askBalance(settings, stop) }, config.run);
    const ending = demoEnding(totalsOf(store.blocks), await balanceOf(account, settings));
    for (const line of ending) log.info({ tag: 'demo' }, line);
    return code;
  } finally {
    stopRetargeting();
    await mock.close();
    await close();
  }
}

/** At the end, each chain gets exactly one more block, with which the states of the demo's blocks can be decided. */
function lastBlocks({ ledger }: MockNode): Sidecar {
  return async () => () => {
    ledger.standsStill = true;
    for (const chain of ledger.chains.graph.keys()) ledger.advance(chain);
  };
}

/** @returns the sum of the account's balances on all chains */
async function balanceOf(account: string, settings: ApiSettings): Promise<Decimal> {
  const [node] = configuredNodes(settings);
  const api = nodeApi(node, NETWORK, settings);
  try {
    const { heads } = await api.cut();
    const readings = await readDetails(api, heads.keys(), { account, module: COIN });
    return readings.reduce((sum, reading) => {
      if ('error' in reading) throw reading.error;
      return sum + (reading.value?.balance ?? 0n);
    }, 0n);
  } finally {
    await api.close();
  }
}

const NOTIFYING: readonly (keyof Config)[] = ['hooks', 'webhook'];

/** Hooks and webhooks of configuration files are for real blocks. The demo uses only those that are given as flags. */
function withoutNoticesOfFiles(loaded: Loaded): Loaded {
  const { config, origins } = loaded;
  const applies = ({ group, path }: Entry) =>
    !NOTIFYING.some((notifying) => notifying === group) || origins.get(path)?.layer === 'flag';
  return { ...loaded, config: assemble((entry) => (applies(entry) ? valueIn(config, entry) : entry.setting.default)) };
}

/**
 * Adjusts the difficulty so that this machine finds a block every BLOCK_SECONDS on average.
 * @returns a function that stops the changes
 */
export function retarget(
  { ledger }: { readonly ledger: Pick<MockNode['ledger'], 'difficulty'> },
  events: Events,
): () => void {
  let hashes = 0;
  let rate = 0;
  events.on((event) => {
    if (event.type === 'hashes') hashes += event.hashes;
  });
  const timer = setInterval(() => {
    const measured = (hashes * 1000) / RETARGET_MS;
    hashes = 0;
    if (measured === 0) return;
    rate = rate === 0 ? measured : 0.9 * rate + 0.1 * measured;
    ledger.difficulty = Math.max(1, rate * BLOCK_SECONDS);
  }, RETARGET_MS);
  return () => clearInterval(timer);
}

const NO_BLOCK = 'no block was accepted, so there is nothing to say of what blocks earn';
/** The commands are suggested for a real node, because the demo's ledger is gone when the demo ends. */
const ON_A_REAL_NODE =
  'on a real node, pickaxe blocks lists what became of each block, and pickaxe balance what you have on each chain';

/** @param balance sum of the account's balances on all chains @returns the last lines of the demo */
export function demoEnding(totals: Totals, balance: Decimal): string[] {
  if (totals.accepted === 0) return [NO_BLOCK, ON_A_REAL_NODE];
  return [
    blocksLine(totals),
    `earned ${formatDecimal(totals.earned)} coins, each reward proven against the header of its block`,
    `the account has ${formatDecimal(balance)} coins on the mock node, ${compared(totals, balance)}`,
    ON_A_REAL_NODE,
  ];
}

function compared({ earned, pending, unanswered, unproven }: Totals, balance: Decimal): string {
  if (balance === earned) return 'exactly what its blocks have earned';
  const isOpen = pending + unanswered + unproven > 0;
  return isOpen ? 'with what undecided blocks may have earned' : 'which is not what its blocks have earned';
}
