/** `pickaxe demo`: the real miner on a mock node inside this process, at about one block per second. */

import { askBalance } from '../../app/ask-balance.ts';
import { chooseEngines } from '../../app/choose-engines.ts';
import { chooseSource } from '../../app/choose-source.ts';
import { prepare } from '../../app/prepare.ts';
import { runMiner } from '../../app/run-miner.ts';
import type { Entry } from '../../config/entries.ts';
import type { Loaded } from '../../config/load.ts';
import { assemble, type Config, DEFAULTS, valueIn } from '../../config/settings.ts';
import { Events } from '../../events/events.ts';
import { MockNode } from '../../mock-node/mock-node.ts';

const NETWORK = 'development';
/** Nobody has the secret of this key: the demo's rewards go nowhere. */
const PUBLIC_KEY = '0'.repeat(64);
/** Easy enough for a first block at once, on any machine. */
const FIRST_DIFFICULTY = 2 ** 22;
const BLOCK_SECONDS = 1;
/** Short, because the first difficulty is a guess; a moving average keeps it steady. */
const RETARGET_MS = 250;
/** Another miner finds a block now and then, so that New Cuts can be seen. */
const RIVAL_MS = 2_000;

/** @param reload reads the configuration again */
export async function runDemo(loaded: Loaded, reload: () => Promise<Loaded>): Promise<number> {
  const { config } = loaded;
  const { close, ...prepared } = await prepare(withoutNoticesOfFiles(loaded), async () =>
    withoutNoticesOfFiles(await reload()),
  );
  const { log } = prepared;
  const engines = await chooseEngines(config, log, { mayBeNone: (prepared.relays ?? []).length > 0 });
  const node = new MockNode({ network: NETWORK, difficulty: FIRST_DIFFICULTY, rivalMs: RIVAL_MS });
  const { url } = await node.start();
  log.info({ tag: 'demo' }, `mock node at ${url}: its blocks are worth nothing. To mine on a real node: pickaxe init`);
  const events = new Events();
  const stopRetargeting = retarget(node, events);
  const miner = { publicKeys: [PUBLIC_KEY], predicate: 'keys-all' } as const;
  const mockNode = { urls: [url], network: NETWORK, insecureTls: false };
  const settings = { node: mockNode, pool: DEFAULTS.pool, miner, ledger: DEFAULTS.ledger };
  const source = chooseSource(settings, events);
  try {
    const rig = { events, source, engines, ...prepared };
    return await runMiner({ ...rig, askBalance: (stop) => askBalance(settings, stop) }, config.run);
  } finally {
    stopRetargeting();
    await node.close();
    await close();
  }
}

/** Groups of settings that send notices to others. */
const NOTIFYING: readonly (keyof Config)[] = ['hooks', 'webhook'];

/** Hooks and webhooks from files are for real blocks; the demo uses only those that were given as flags. */
function withoutNoticesOfFiles(loaded: Loaded): Loaded {
  const { config, origins } = loaded;
  const applies = ({ group, path }: Entry) =>
    !NOTIFYING.some((notifying) => notifying === group) || origins.get(path)?.layer === 'flag';
  return { ...loaded, config: assemble((entry) => (applies(entry) ? valueIn(config, entry) : entry.setting.default)) };
}

/** Keeps the difficulty at what this machine hashes in the time of a block. @returns a function that ends this */
function retarget(node: MockNode, events: Events): () => void {
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
    node.ledger.difficulty = Math.max(1, rate * BLOCK_SECONDS);
  }, RETARGET_MS);
  return () => clearInterval(timer);
}
