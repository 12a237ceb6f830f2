// Mines on a node with the CPU, and stops after a few blocks.
//
//   node mine.mjs                                   on a mock node inside this process
//   node mine.mjs NODE_URL NETWORK PUBLIC_KEY       on a node

import { CpuEngine, Events, formatHashrate, Miner, MockNode, NodeSource, systemClock, Tally } from 'pickaxe';

const BLOCKS = 3;

const [given, network = 'development', publicKey = '0'.repeat(64)] = process.argv.slice(2);
const mockNode = new MockNode({ network: 'development', dialect: 'chainweb', difficulty: 2 ** 20 });
const url = given ?? (await mockNode.start()).url;

// Everything that happens is an event. Without listeners, mining prints nothing.
const events = new Events();
const engines = [new CpuEngine()];
const miner = new Miner({
  source: new NodeSource(
    { url, network, miner: { account: `k:${publicKey}`, predicate: 'keys-all', publicKeys: [publicKey] } },
    { emit: events.emit },
  ),
  engines,
  emit: events.emit,
});

// A tally counts what events report.
const tally = new Tally(systemClock, engines);
events.on(tally.listen);
events.on((event) => {
  if (event.type === 'device') console.log(`${event.device} ${event.state}: ${event.reason ?? event.description}`);
  if (event.type === 'source') console.log(`${event.source} ${event.reason}`);
  if (event.type === 'work') console.log(`chain ${event.chain} height ${event.height}`);
  if (event.type !== 'verdict') return;
  console.log(`${event.outcome} ${event.reason}`.trim());
  if (tally.accepted >= BLOCKS) miner.stop();
});

process.on('SIGINT', () => miner.stop());
await miner.run(); // It waits for pending submissions.
await mockNode.close();

const { accepted, averageHashesPerSecond } = tally.summary();
console.log(`${accepted} blocks accepted, ${formatHashrate(averageHashesPerSecond)} on average`);
