// Three clustered NATS servers with two coordinators on a mock node, whose New Cuts are made on request.

import { setTimeout as sleep } from 'node:timers/promises';
import { startMockProcess } from '../lib/mock-process.mjs';
import { until } from '../lib/until.mjs';
import { startCoordinator } from './fleet-members.mjs';
import { startCluster } from './nats-cluster.mjs';

const CHAIN = 0;
const COORDINATORS = ['north', 'south'];
/** A difficulty at which nobody finds a block. */
const HARD = 2 ** 60;

export async function startCutFleet() {
  const cluster = await startCluster(3);
  const node = await startMockProcess({ difficulty: HARD, seed: 1 }, CHAIN);
  const coordinators = COORDINATORS.map((name) => startCoordinator(name, { nats: cluster.urls, node: node.url }));
  /** By height: the message that each process of simulated rigs has sent when all its rigs had the work. */
  const reached = new Map();
  let processes = 0;

  async function cut() {
    const height = Math.max(...reached.keys()) + 1;
    node.cut();
    await until(() => reached.get(height)?.length === processes);
    return height;
  }

  return {
    cluster,
    node,
    coordinators,
    coordinatorNames: COORDINATORS,
    reached,
    /**
     * @param start called with a listener, which must be called with each height whose work all rigs of a process have
     */
    async addRigs(start) {
      processes++;
      return await start(({ height, ...times }) => reached.set(height, [...(reached.get(height) ?? []), times]));
    },
    /** @returns the heights of the New Cuts, once all rigs have had the work of each */
    async cutAll(count, spacingMs) {
      const heights = [];
      for (let i = 0; i < count; i++) {
        heights.push(await cut());
        await sleep(spacingMs);
      }
      return heights;
    },
    async close() {
      for (const ended of coordinators.map((each) => each.stop())) await ended;
      await node.close();
      await cluster.close();
    },
  };
}
