/** `pickaxe demo`: the miner as it is, on a mock node inside this process, at about a block a second. */

import { Events } from '../../events/events.ts';
import { MockNode } from '../../mock-node/mock-node.ts';
import { type CompanionOptions, companionsOf } from '../companions.ts';
import { makeLog } from '../log.ts';
import { nodeSource } from '../node-source.ts';
import { chooseEngines, type DeviceOptions } from '../rig.ts';
import { type MiningOptions, runMiner } from '../run-miner.ts';
import { limitsOf, type TemperatureOptions } from '../temperatures.ts';

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

type DemoOptions = DeviceOptions & MiningOptions & TemperatureOptions & CompanionOptions;

export async function runDemo(options: DemoOptions): Promise<number> {
  const temperatureLimits = limitsOf(options);
  const companions = await companionsOf(options);
  const log = makeLog(options.logLevel, options.logFormat);
  const engines = await chooseEngines(options, log);
  const node = new MockNode({ network: NETWORK, difficulty: FIRST_DIFFICULTY, rivalMs: RIVAL_MS });
  const { url } = await node.start();
  log.info({ tag: 'demo' }, `mock node at ${url}; blocks are worth nothing here. For a real node: pickaxe mine --help`);
  const events = new Events();
  const stopRetargeting = retarget(node, events);
  const source = nodeSource({ node: [url], network: NETWORK, publicKey: [PUBLIC_KEY], predicate: 'keys-all' }, events);
  try {
    return await runMiner({ events, source, engines, log, temperatureLimits, companions }, options);
  } finally {
    stopRetargeting();
    await node.close();
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
