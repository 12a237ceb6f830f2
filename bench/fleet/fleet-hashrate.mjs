// Measures the hashrate of a fleet's rig ÷ that of a rig on a node. Both mine at the same time on one mock node, each
// in a process of its own, so that changes of the machine's speed affect both.
//
// The child gets { url, nats, threads, kernel } as its first argument, of which `nats` is absent for the rig on the
// node. It answers each message with its counts so far: { hashes, works, ns, wallMs }.

import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { CpuEngine } from '#pickaxe/miner/engine/cpu/cpu-engine.js';
import { Miner } from '#pickaxe/miner/loop/miner.js';
import { NodeSource } from '#pickaxe/miner/source/node/node-source.js';
import { median } from '../lib/figures.mjs';
import { hashingNs } from '../lib/mining-rate.mjs';
import { startMockProcess } from '../lib/mock-process.mjs';
import { startCoordinator } from './fleet-members.mjs';
import { fleetRigSource } from './fleet-rig-source.mjs';
import { forkRigs } from './forked-rigs.mjs';
import { startCluster } from './nats-cluster.mjs';

const CUT_MS = 3_000;
/** Time between two blocks that the two rigs find. */
const BLOCK_SECONDS = 1;
const MINER = { account: 'bench', predicate: 'keys-all', publicKeys: ['0'.repeat(64)] };

/** @param rounds number of measurements of `ms` each, after `warmUpMs` */
export async function fleetHashrate({ rounds, ms, warmUpMs, threads }) {
  const cluster = await startCluster(3);
  const node = await startMockProcess({ difficulty: 1e8, rivalMs: CUT_MS });
  const coordinators = ['north', 'south'].map((name) => startCoordinator(name, { nats: cluster.urls, node: node.url }));
  const probe = new CpuEngine({ threads });
  const [kernel] = (await probe.open()).kernel.split('+');
  await probe.close();

  const common = { url: node.url, threads, kernel };
  const rigs = [startMiner({ ...common, nats: cluster.urls }), startMiner(common)];
  const look = () => Promise.all(rigs.map((rig) => rig.look()));
  /** Waits for that time, and longer until both have reported hashes, as on a busy machine. */
  const hashing = async (ms, before) => {
    for (;;) {
      await sleep(ms);
      const after = await look();
      if (after.every(({ hashes }, i) => hashes > before[i].hashes)) return after;
    }
  };
  const [inFleet, onNode] = await hashing(warmUpMs, await look());
  node.setDifficulty(((inFleet.hashes + onNode.hashes) / warmUpMs) * 1_000 * BLOCK_SECONDS);
  const rows = [];
  let before = await hashing(warmUpMs, await look());
  for (let round = 0; round < rounds; round++) {
    const after = await hashing(ms, before);
    const [fleet, alone] = after.map((each, i) => {
      const [hashes, works, ns, wallMs] = ['hashes', 'works', 'ns', 'wallMs'].map(
        (name) => each[name] - before[i][name],
      );
      return { rate: (hashes * 1e9) / ns, wallRate: (hashes * 1_000) / wallMs, works };
    });
    before = after;
    rows.push({
      fleetMHs: fleet.rate / 1e6,
      nodeMHs: alone.rate / 1e6,
      ratio: fleet.rate / alone.rate,
      wallRatio: fleet.wallRate / alone.wallRate,
      fleetWorks: fleet.works,
      nodeWorks: alone.works,
    });
  }
  for (const rig of rigs) await rig.stop();
  for (const each of coordinators) await each.stop();
  await node.close();
  await cluster.close();
  return {
    kernel,
    threads,
    rounds: rows,
    ratio: median(rows.map(({ ratio }) => ratio)),
    wallRatio: median(rows.map(({ wallRatio }) => wallRatio)),
  };
}

function startMiner(options) {
  const { child, stop } = forkRigs(import.meta.url, options);
  return {
    async look() {
      child.send('look');
      const [counts] = await once(child, 'message');
      return counts;
    },
    stop,
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { url, nats, threads, kernel } = JSON.parse(process.argv[2]);
  let [hashes, works] = [0, 0];
  const emit = (event) => {
    if (event.type === 'hashes') hashes += event.hashes;
    if (event.type === 'work') works++;
  };
  const source = nats ? fleetRigSource(nats, 'bench') : new NodeSource({ url, network: 'development', miner: MINER });
  const engine = new CpuEngine({ threads, kernel });
  void new Miner({ source, engines: [engine], emit, clock: systemClock }).run();
  process.on('message', () => process.send({ hashes, works, ns: hashingNs(), wallMs: performance.now() }));
  process.on('disconnect', () => process.exit(0));
}
