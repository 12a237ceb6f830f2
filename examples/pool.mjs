// Mines on a pool, and is the pool: a stratum server hands out the work of a node, and a miner connects to it.
//
//   node pool.mjs

import { CpuEngine, Events, Miner, MockNode, NodeSource, PoolSource, StratumRelay } from 'pickaxe';

const SHARES = 5;

const node = new MockNode({ network: 'development', dialect: 'chainweb', difficulty: 2 ** 26 });
const { url } = await node.start();
const identity = { account: 'demo', predicate: /** @type {const} */ ('keys-all'), publicKeys: ['0'.repeat(64)] };

// The pool: port 0 stands for any free one.
const ending = new AbortController();
const server = new StratumRelay({
  source: new NodeSource({ url, network: 'development', miner: identity }),
  listen: { host: '127.0.0.1', port: 0 },
});
await server.open();
const serving = server.run(ending.signal);

// The miner. Its password asks for a difficulty: 0.001 × 2^32 hashes a share.
const events = new Events();
const source = new PoolSource(
  { url: `stratum+tcp://127.0.0.1:${server.port}`, user: 'example.rig1', password: 'd=0.001' },
  { emit: events.emit },
);
const miner = new Miner({ source, engines: [new CpuEngine()], emit: events.emit });
let accepted = 0;
events.on((event) => {
  if (event.type === 'source') console.log(`${event.state}: ${event.reason}`.trim());
  if (event.type !== 'verdict') return;
  console.log(`${event.isBlock ? 'block' : 'share'} ${event.outcome} ${event.reason}`.trim());
  if (event.outcome === 'accepted' && ++accepted >= SHARES) miner.stop();
});
await miner.run();
ending.abort();
await serving;
await node.close();
console.log(`${accepted} shares accepted`);
