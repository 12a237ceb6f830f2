// Measures the hashrate of a fleet's rig ÷ that of a rig on a node. Both take turns on one mock node, so that changes
// of the machine's speed affect both.

import { CpuEngine } from '#pickaxe/engine/cpu/cpu-engine.js';
import { NodeSource } from '#pickaxe/source/node/node-source.js';
import { median } from './figures.mjs';
import { startCoordinator } from './fleet-members.mjs';
import { fleetRigSource } from './fleet-rig-source.mjs';
import { miningRate } from './mining-rate.mjs';
import { startMockProcess } from './mock-process.mjs';
import { startCluster } from './nats-cluster.mjs';

const CUT_MS = 3_000;
const MINER = { account: 'bench', predicate: 'keys-all', publicKeys: ['0'.repeat(64)] };

/** @param rounds in each of which both have a turn of `ms` */
export async function fleetHashrate({ rounds, ms, warmUpMs, threads }) {
  const cluster = await startCluster(3);
  const node = await startMockProcess({ difficulty: 1e8, rivalMs: CUT_MS });
  const nats = cluster.urls;
  const coordinators = ['north', 'south'].map((name) => startCoordinator(name, { nats, node: node.url }));
  const measured = { ms, warmUpMs, adjust: (rate) => node.setDifficulty(rate) };
  const probe = new CpuEngine({ threads });
  const [kernel] = (await probe.open()).kernel.split('+');
  await probe.close();

  async function inFleet(engine) {
    const { connection, source } = fleetRigSource(nats, 'bench');
    const rates = await miningRate({ source, engine, ...measured });
    await connection.close();
    return rates;
  }

  async function onNode(engine) {
    const source = new NodeSource({ url: node.url, network: 'development', miner: MINER });
    return await miningRate({ source, engine, ...measured });
  }

  const rows = [];
  for (let round = 0; round < rounds; round++) {
    // Whichever comes second has the warmer chip, so they change places.
    const order = round % 2 === 0 ? [inFleet, onNode] : [onNode, inFleet];
    const results = new Map();
    for (const mine of order) results.set(mine, await mine(new CpuEngine({ threads, kernel })));
    const [fleet, alone] = [results.get(inFleet), results.get(onNode)];
    rows.push({
      fleetMHs: fleet.rate / 1e6,
      nodeMHs: alone.rate / 1e6,
      ratio: fleet.rate / alone.rate,
      wallRatio: fleet.wallRate / alone.wallRate,
      fleetWorks: fleet.works,
      nodeWorks: alone.works,
    });
  }
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
