/** `pickaxe demo`: the miner as it is, on a mock node inside this process, at about a block a second. */

import type { Loaded } from '../../config/load.ts';
import { Events } from '../../events/events.ts';
import { MockNode } from '../../mock-node/mock-node.ts';
import { companionsOf } from '../companions.ts';
import { LiveConfig } from '../live-config.ts';
import { makeLog } from '../log.ts';
import { openLogFile } from '../log-file.ts';
import { nodeSource } from '../node-source.ts';
import { chooseEngines } from '../rig.ts';
import { runMiner } from '../run-miner.ts';
import { limitsOf } from '../temperatures.ts';

const NETWORK = 'development';
/** Nobody has the secret of this key: the demo's rewards go nowhere. */
const PUBLIC_KEY = '0'.repeat(64);
/** Easy enough for a first block at once, wherever it runs. */
const FIRST_DIFFICULTY = 2 ** 22;
const BLOCK_SECONDS = 1;
/** Often at first, since the first figure is a guess; the average steadies it. */
const RETARGET_MS = 250;
/** Somebody else's block now and then, so that New Cuts are to be seen. */
const RIVAL_MS = 2_000;

/** @param reload reads the configuration again */
export async function runDemo(loaded: Loaded, reload: () => Promise<Loaded>): Promise<number> {
  const { config } = loaded;
  const live = new LiveConfig(loaded, reload);
  const temperatureLimits = () => limitsOf(live.config.devices);
  temperatureLimits();
  const companions = await companionsOf(live);
  const logFile = openLogFile(config.logFile);
  const log = makeLog(config.log.level, config.log.format, logFile);
  const engines = await chooseEngines(config, log);
  const node = new MockNode({ network: NETWORK, difficulty: FIRST_DIFFICULTY, rivalMs: RIVAL_MS });
  const { url } = await node.start();
  log.info({ tag: 'demo' }, `mock node at ${url}; blocks are worth nothing here. For a real node: pickaxe mine --help`);
  const events = new Events();
  const stopRetargeting = retarget(node, events);
  const miner = { publicKeys: [PUBLIC_KEY], predicate: 'keys-all' } as const;
  const source = nodeSource({ node: { urls: [url], network: NETWORK, insecureTls: false }, miner }, events);
  try {
    return await runMiner({ events, source, engines, log, temperatureLimits, companions }, config.run);
  } finally {
    stopRetargeting();
    await node.close();
    await logFile?.close();
  }
}

/** Keeps the difficulty at what this machine hashes in a block's time. @returns what ends it */
function retarget(node: MockNode, events: Events): () => void {
  let hashes = 0;
  let rate = 0;
  events.on((event) => {
    if (event.event === 'hashes') hashes += event.hashes;
  });
  const timer = setInterval(() => {
    const measured = (hashes * 1000) / RETARGET_MS;
    hashes = 0;
    if (measured === 0) return;
    rate = rate === 0 ? measured : 0.9 * rate + 0.1 * measured;
    node.difficulty = Math.max(1, rate * BLOCK_SECONDS);
  }, RETARGET_MS);
  return () => clearInterval(timer);
}
